import type { PayloadOf, paymentSeen } from '@tollgate/contracts'
import { microFor, type Rate } from './quote.ts'

export type SeenPayment = PayloadOf<typeof paymentSeen>

/** What became of a payment. All but `credited` and `processing` are listed for the operator. */
export type PaymentState =
  /** Seen, but not deep enough yet, or of unknown time. */
  | 'processing'
  /** Part of what its intent was credited for. */
  | 'credited'
  /** In time, but less than asked; another payment may complete it. */
  | 'underpaid'
  /** After the quote's expiry. */
  | 'late'
  /** For an intent that was paid already, or naming several intents at once. */
  | 'multiple'
  /** Names no intent of ours. */
  | 'unmatched'
  /** No longer on the chain. */
  | 'vanished'

/** An intent, as far as matching reads it. */
export interface Asked extends Rate {
  id: string
  reference: string
  usdMicro: bigint
  tokenRaw: bigint
  expiresAtMs: number
}

/** A recorded payment of one intent. */
export interface Received {
  signature: string
  /** What it counts for the intent. */
  attributedRaw: bigint
  slot: number
  blockTimeMs: number | null
  /** When we first heard of it, by the database's clock: it landed before that. */
  receivedAtMs: number
  settled: boolean
  vanished: boolean
  /** An operator dealt with it: it counts for nothing any more. */
  resolved: boolean
}

/** Which intent a payment is for, and how much of it. */
export type Attribution = { intent: Asked; attributedRaw: bigint } | { intent: null; state: 'unmatched' | 'multiple' }

/**
 * The intent that a payment names: a reference counts only inside a transfer that paid the treasury. What counts for it
 * is the treasury's change of balance, and no more than those transfers moved.
 */
export function attribute(payment: SeenPayment, candidates: readonly Asked[]): Attribution {
  const named = candidates.filter(({ reference }) => payment.legs.some(leg => leg.references.includes(reference)))
  const [intent, ...others] = named
  if (!intent) return { intent: null, state: 'unmatched' }
  // Dividing one change of balance among several quotes would be guessing: a person looks at it.
  if (others.length > 0) return { intent: null, state: 'multiple' }
  const namedRaw = payment.legs
    .filter(leg => leg.references.includes(intent.reference))
    .reduce((sum, leg) => sum + leg.amountRaw, 0n)
  return { intent, attributedRaw: least(namedRaw, payment.deltaRaw) }
}

/** What to credit an intent for: the payments that made it whole, by one claim under the last one's signature. */
export interface Claim {
  signature: string
  signatures: string[]
  receivedRaw: bigint
  amountMicro: bigint
}

export interface Assessment {
  states: Map<string, PaymentState>
  claim: Claim | null
}

/**
 * What an intent's payments amount to. `claimed` are the signatures that it was credited for; null while it was not.
 * In time is what has a block time up to the expiry, to the second; without one, what we heard of before the expiry.
 */
export function assess(intent: Asked, received: readonly Received[], claimed: readonly string[] | null): Assessment {
  const states = new Map<string, PaymentState>()
  const countable: Received[] = []
  for (const payment of received) {
    if (claimed?.includes(payment.signature)) states.set(payment.signature, 'credited')
    else if (payment.resolved) continue
    else if (payment.vanished) states.set(payment.signature, 'vanished')
    else if (!payment.settled) states.set(payment.signature, 'processing')
    else if (claimed) states.set(payment.signature, 'multiple')
    else if (inTime(payment, intent.expiresAtMs) === null) states.set(payment.signature, 'processing')
    else if (inTime(payment, intent.expiresAtMs) === false) states.set(payment.signature, 'late')
    else countable.push(payment)
  }
  const claim = claimOf(intent, countable)
  for (const { signature } of countable) {
    states.set(signature, claim === null ? 'underpaid' : claim.signatures.includes(signature) ? 'credited' : 'multiple')
  }
  return { states, claim }
}

function inTime({ blockTimeMs, receivedAtMs }: Received, expiresAtMs: number): boolean | null {
  if (blockTimeMs !== null) return blockTimeMs <= expiresAtMs
  return receivedAtMs <= expiresAtMs ? true : null
}

/** The first payments, in the order of the chain, that together reach what was asked. */
function claimOf(intent: Asked, countable: readonly Received[]): Claim | null {
  const inOrder = countable.toSorted((a, b) => a.slot - b.slot || (a.signature < b.signature ? -1 : 1))
  let receivedRaw = 0n
  const signatures: string[] = []
  for (const { signature, attributedRaw } of inOrder) {
    receivedRaw += attributedRaw
    signatures.push(signature)
    if (receivedRaw >= intent.tokenRaw) {
      // The quote was rounded up: whoever pays it exactly gets what was asked for, and the excess its worth.
      const amountMicro = intent.usdMicro + microFor(receivedRaw - intent.tokenRaw, intent)
      return { signature, signatures, receivedRaw, amountMicro }
    }
  }
  return null
}

function least(a: bigint, b: bigint): bigint {
  return a <= b ? a : b
}
