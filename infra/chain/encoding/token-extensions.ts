import { Reader } from './reader.ts'

export type ParsedExtension = { extension: string; state?: Record<string, unknown> }

type Decode = (reader: Reader) => Record<string, unknown>

const transferFee: Decode = reader => ({
  epoch: reader.u64(),
  maximumFee: reader.u64(),
  transferFeeBasisPoints: reader.u16(),
})

/** Extension id → agave's name, and how its state reads; an extension that is only a mark has no state. */
const EXTENSIONS: Record<number, [name: string, decode?: Decode]> = {
  1: [
    'transferFeeConfig',
    reader => ({
      transferFeeConfigAuthority: reader.optionalAddress(),
      withdrawWithheldAuthority: reader.optionalAddress(),
      withheldAmount: reader.u64(),
      olderTransferFee: transferFee(reader),
      newerTransferFee: transferFee(reader),
    }),
  ],
  2: ['transferFeeAmount', reader => ({ withheldAmount: reader.u64() })],
  3: ['mintCloseAuthority', reader => ({ closeAuthority: reader.optionalAddress() })],
  4: [
    'confidentialTransferMint',
    reader => ({
      authority: reader.optionalAddress(),
      autoApproveNewAccounts: reader.bool(),
      auditorElgamalPubkey: base64OrNull(reader.bytes(32)),
    }),
  ],
  6: ['defaultAccountState', reader => ({ accountState: ['uninitialized', 'initialized', 'frozen'][reader.u8()] })],
  7: ['immutableOwner'],
  8: ['memoTransfer', reader => ({ requireIncomingTransferMemos: reader.bool() })],
  9: ['nonTransferable'],
  10: [
    'interestBearingConfig',
    reader => ({
      rateAuthority: reader.optionalAddress(),
      initializationTimestamp: reader.i64(),
      preUpdateAverageRate: reader.i16(),
      lastUpdateTimestamp: reader.i64(),
      currentRate: reader.i16(),
    }),
  ],
  11: ['cpiGuard', reader => ({ lockCpi: reader.bool() })],
  12: ['permanentDelegate', reader => ({ delegate: reader.optionalAddress() })],
  13: ['nonTransferableAccount'],
  14: ['transferHook', reader => ({ authority: reader.optionalAddress(), programId: reader.optionalAddress() })],
  15: ['transferHookAccount', reader => ({ transferring: reader.bool() })],
  18: [
    'metadataPointer',
    reader => ({ authority: reader.optionalAddress(), metadataAddress: reader.optionalAddress() }),
  ],
  19: [
    'tokenMetadata',
    reader => ({
      updateAuthority: reader.optionalAddress(),
      mint: reader.address(),
      name: reader.text(),
      symbol: reader.text(),
      uri: reader.text(),
      additionalMetadata: Array.from({ length: reader.u32() }, () => [reader.text(), reader.text()]),
    }),
  ],
  20: ['groupPointer', reader => ({ authority: reader.optionalAddress(), groupAddress: reader.optionalAddress() })],
  21: [
    'tokenGroup',
    reader => ({
      updateAuthority: reader.optionalAddress(),
      mint: reader.address(),
      size: reader.u64(),
      maxSize: reader.u64(),
    }),
  ],
  22: [
    'groupMemberPointer',
    reader => ({ authority: reader.optionalAddress(), memberAddress: reader.optionalAddress() }),
  ],
  23: ['tokenGroupMember', reader => ({ mint: reader.address(), group: reader.address(), memberNumber: reader.u64() })],
  25: [
    'scaledUiAmountConfig',
    reader => ({
      authority: reader.optionalAddress(),
      multiplier: String(reader.f64()),
      newMultiplierEffectiveTimestamp: reader.i64(),
      newMultiplier: String(reader.f64()),
    }),
  ],
  26: ['pausableConfig', reader => ({ authority: reader.optionalAddress(), paused: reader.bool() })],
  27: ['pausableAccount'],
}

/** Parses a mint's or token account's extensions as agave does; what it cannot read is named, never left out. */
export function parseExtensions(bytes: Uint8Array): ParsedExtension[] {
  const parsed: ParsedExtension[] = []
  const reader = new Reader(bytes)
  while (reader.remaining >= 4) {
    const type = reader.u16()
    if (type === 0) break
    const length = reader.u16()
    if (length > reader.remaining) break
    parsed.push(parseExtension(type, reader.bytes(length)))
  }
  return parsed
}

function parseExtension(type: number, value: Uint8Array): ParsedExtension {
  const [name, decode] = EXTENSIONS[type] ?? []
  if (name === undefined) return { extension: 'unparsableExtension' }
  if (decode === undefined) return { extension: name }
  try {
    return { extension: name, state: decode(new Reader(value)) }
  } catch {
    return { extension: 'unparsableExtension' }
  }
}

function base64OrNull(bytes: Uint8Array): string | null {
  return bytes.every(byte => byte === 0) ? null : Buffer.from(bytes).toString('base64')
}
