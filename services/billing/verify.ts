import type { Bus } from '@tollgate/bus'
import { type AccountId, findPayment, getUser, PublicError, type User, type WireOf } from '@tollgate/contracts'
import { parseReference, parseSignature } from './base58.ts'
import { writeDecimal } from './decimal.ts'
import type { IntentAccount } from './history.ts'
import type { Settler } from './settle.ts'
import type { Store } from './store.ts'
import { chainAway } from './topup.ts'

export interface VerifyOptions {
  store: Store
  bus: Bus
  settler: Settler
}

export interface Verified {
  ok: true
  creditsMicro: number
  user: WireOf<typeof User>
}

const CHAIN_DEADLINE = { deadlineMs: 10_000, attemptMs: 10_000 } as const
/** A payment is confirmed within about a second of landing. */
const RETRY_S = 2

const alreadyCredited = () => new PublicError('bad_request', 'this payment is already credited')

/**
 * Confirms a payment now instead of waiting for the scan (interface.md, "POST /billing/verify"). It settles what the
 * chain shows by the same steps as the scan's events; what differs is only who asks. The owner's first verify of a
 * credited intent answers the amount, whoever credited it; every later one is refused.
 */
export function createVerify({ store, bus, settler }: VerifyOptions) {
  return async (account: AccountId, referenceText: string, signatureText: string | undefined): Promise<Verified> => {
    const reference = parseReference(referenceText)
    const signature = signatureText === undefined ? null : parseSignature(signatureText)
    const found = await store.intent(reference)
    // The same answer for a stranger's intent as for none: references are public once paid.
    if (!found || found.intent.account !== account) throw new PublicError('not_found', 'there is no such top-up')
    const { id } = found.intent
    if (found.settlement?.verifiedAt) throw alreadyCredited()
    const creditedFor = signature === null ? null : await store.creditedFor(signature)
    if (creditedFor !== null && creditedFor !== id) throw alreadyCredited()

    if (!found.settlement) await lookAtChain(reference, signature)
    await settler.settle(id)
    return answer(id, account)
  }

  async function lookAtChain(reference: string, signature: string | null): Promise<void> {
    const reply = await bus.call(findPayment, { reference, signature }, CHAIN_DEADLINE)
    if (reply.status !== 'ok') throw chainAway(reply.reason)
    for (const payment of reply.payments) await settler.seen(payment)
  }

  async function answer(intentId: string, account: AccountId): Promise<Verified> {
    const state = await store.account(intentId)
    if (!state?.settlement?.creditedAt) throw notCredited(state, Date.now())
    // The user first: an answer that failed after the claim would never come again.
    const reply = await bus.call(getUser, { account })
    if (reply.status !== 'found') throw new Error(`auth knows no user of ${account}`)
    if (!(await store.claimAnswer(intentId))) throw alreadyCredited()
    return { ok: true, creditsMicro: Number(state.settlement.amountMicro), user: reply.user }
  }
}

/** Why a verify did not credit, as the payer should read it. */
function notCredited(account: IntentAccount | null, nowMs: number): PublicError {
  const pending = () =>
    new PublicError('not_found', 'no payment was found yet; try again in a moment', { retryAfterSeconds: RETRY_S })
  if (!account) return pending()
  const { intent, payments } = account
  const states = new Set(payments.map(({ state }) => state))
  if (states.has('processing') || states.has('received')) {
    return new PublicError('not_found', 'the payment is on its way but not final yet; try again in a moment', {
      retryAfterSeconds: RETRY_S,
    })
  }
  const expired = nowMs > intent.expiresAt.getTime() || states.has('late')
  if (states.has('underpaid') && !expired) {
    const receivedRaw = payments
      .filter(({ state }) => state === 'underpaid')
      .reduce((sum, { attributedRaw }) => sum + attributedRaw, 0n)
    const missing = writeDecimal(intent.tokenRaw - receivedRaw, intent.decimals)
    return new PublicError(
      'bad_request',
      `the payment is short by ${missing} tokens; send them with the same reference`,
    )
  }
  if (expired) return new PublicError('bad_request', 'this top-up has expired; a late payment is kept for the operator')
  return pending()
}
