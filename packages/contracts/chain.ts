import { Type } from '@sinclair/typebox'
import { ask, event } from './ask.ts'
import { TokenRaw } from './money.ts'

const Unavailable = Type.Object({ status: Type.Literal('unavailable'), reason: Type.String() })
const Base58 = Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,88}$' })

/** A transfer instruction that paid the treasury's token account, with every account that rode along as a possible reference. */
export const PaymentLeg = Type.Object({
  amountRaw: TokenRaw,
  source: Type.String(),
  references: Type.Array(Base58, { maxItems: 64 }),
})

/** What a transaction did to the treasury's token account, decoded once. The delta decides; the legs corroborate it. */
export const Payment = Type.Object({
  v: Type.Literal(1),
  network: Type.String(),
  signature: Base58,
  slot: Type.Integer({ minimum: 0 }),
  /** Block time in ms; null while the node does not know it. */
  blockTimeMs: Type.Union([Type.Integer(), Type.Null()]),
  commitment: Type.Union([Type.Literal('confirmed'), Type.Literal('finalized')]),
  /** As deep as the operator asks for (`COMMITMENT`): only then is it credited. */
  settled: Type.Boolean(),
  mint: Type.String(),
  treasury: Type.String(),
  /** post − pre of the treasury's token account; a payment is positive. */
  deltaRaw: TokenRaw,
  legs: Type.Array(PaymentLeg),
})

/** A recent blockhash to build a transaction against. */
export const blockhash = ask('chain.blockhash', {
  owner: 'chain-watcher',
  callers: ['billing'],
  request: Type.Object({}),
  reply: Type.Union([
    Type.Object({ status: Type.Literal('ok'), blockhash: Type.String(), lastValidBlockHeight: Type.Integer() }),
    Unavailable,
  ]),
})

/** Looks on chain, now, for payments that name the reference; the signature is a hint where to look first. */
export const findPayment = ask('chain.payment', {
  owner: 'chain-watcher',
  callers: ['billing'],
  request: Type.Object({ reference: Base58, signature: Type.Union([Base58, Type.Null()]) }),
  reply: Type.Union([Type.Object({ status: Type.Literal('ok'), payments: Type.Array(Payment) }), Unavailable]),
})

/** A wallet's balance of the payment token. */
export const tokenBalance = ask('chain.token_balance', {
  owner: 'chain-watcher',
  callers: ['auth'],
  request: Type.Object({ wallet: Base58 }),
  reply: Type.Union([
    Type.Object({
      status: Type.Literal('ok'),
      balanceRaw: TokenRaw,
      decimals: Type.Integer({ minimum: 0, maximum: 18 }),
    }),
    Unavailable,
  ]),
})

/** Where payments go, and whether the mint is one that we accept. */
export const treasury = ask('chain.treasury', {
  owner: 'chain-watcher',
  callers: ['billing'],
  request: Type.Object({}),
  reply: Type.Union([
    Type.Object({
      status: Type.Literal('ok'),
      network: Type.String(),
      mint: Type.String(),
      decimals: Type.Integer({ minimum: 0, maximum: 18 }),
      treasury: Type.String(),
      tokenAccount: Type.String(),
    }),
    Type.Object({ status: Type.Literal('misconfigured'), reason: Type.String() }),
    Unavailable,
  ]),
})

/**
 * A payment to the treasury was seen; again when it is final, or more is known of it. Message id = signature, commitment,
 * slot and block time, so that the same word is stored once.
 */
export const paymentSeen = event('events.payment.seen', { owner: 'chain-watcher', payload: Payment })

/** A payment that had been seen is not on the chain any more: its fork lost. Message id = signature and `vanished`. */
export const paymentVanished = event('events.payment.vanished', {
  owner: 'chain-watcher',
  payload: Type.Object({ v: Type.Literal(1), network: Type.String(), signature: Base58, at: Type.Integer() }),
})

export const chainAsks = { blockhash, findPayment, tokenBalance, treasury } as const
