import { type TSchema, Type } from '@sinclair/typebox'

/** The parts of nodes' answers that we read; whatever else is in them is ignored. */
const inContext = <S extends TSchema>(value: S) => Type.Object({ value })

export const GenesisHash = Type.String()

export const LatestBlockhash = inContext(
  Type.Object({ blockhash: Type.String(), lastValidBlockHeight: Type.Integer() }),
)

export const SignatureList = Type.Array(
  Type.Object({ signature: Type.String(), slot: Type.Integer(), err: Type.Unknown() }),
)

export const SignatureStatuses = inContext(
  Type.Array(
    Type.Union([
      Type.Null(),
      Type.Object({
        slot: Type.Integer(),
        confirmationStatus: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      }),
    ]),
  ),
)

const AccountData = Type.Object({ owner: Type.String(), data: Type.Tuple([Type.String(), Type.Literal('base64')]) })
export const AccountInfo = inContext(Type.Union([Type.Null(), AccountData]))
export const TokenAccounts = inContext(Type.Array(Type.Object({ pubkey: Type.String(), account: AccountData })))
export const SentSignature = Type.String()
export const BlockTime = Type.Union([Type.Integer(), Type.Null()])

/** Read loosely: a transaction that does not fit is parked, and must not look like a broken endpoint. */
export const AnyTransaction = Type.Unknown()
