import type { IntentDetail, WireOf } from '@tollgate/contracts'
import { intentView, type PayTexts } from './intent.ts'
import type { IntentRow, PaymentRow, SettlementRow } from './store.ts'

type Detail = WireOf<typeof IntentDetail>

/** An intent with all that was paid for it. */
export interface IntentAccount {
  intent: IntentRow
  settlement: SettlementRow | null
  payments: PaymentRow[]
}

/** A payment of the last second must be confirmed and seen before its absence means that the quote expired. */
const EXPIRY_GRACE_MS = 30_000

/** Where an intent stands and how it got there, for its owner. */
export function intentDetail(account: IntentAccount, texts: PayTexts, nowMs: number): Detail {
  const { intent, settlement } = account
  const receivedRaw = receivedInTime(account)
  const missingRaw = intent.tokenRaw > receivedRaw ? intent.tokenRaw - receivedRaw : 0n
  return {
    ...intentView(intent, texts),
    status: statusOf(account, nowMs),
    exception: exceptionOf(account),
    createdAt: intent.createdAt.getTime(),
    receivedRaw: receivedRaw.toString(),
    missingRaw: (settlement ? 0n : missingRaw).toString(),
    creditsMicro: settlement?.creditedAt ? Number(settlement.amountMicro) : null,
    payments: account.payments.map(paymentView),
    timeline: timelineOf(account, nowMs),
  }
}

function statusOf({ intent, settlement, payments }: IntentAccount, nowMs: number): Detail['status'] {
  if (settlement?.creditedAt) return 'credited'
  const underWay = payments.some(({ state }) => state === 'processing' || state === 'received')
  if (settlement || underWay) return 'processing'
  return nowMs > intent.expiresAt.getTime() + EXPIRY_GRACE_MS ? 'expired' : 'awaiting'
}

function exceptionOf({ intent, settlement, payments }: IntentAccount): Detail['exception'] {
  const has = (state: PaymentRow['state']) => payments.some(payment => payment.state === state)
  if (has('multiple')) return 'multiple'
  if (has('late')) return 'late'
  if (settlement) return settlement.receivedRaw > intent.tokenRaw ? 'overpaid' : 'none'
  return has('underpaid') ? 'underpaid' : 'none'
}

function receivedInTime({ payments }: IntentAccount): bigint {
  return payments
    .filter(({ state }) => state === 'credited' || state === 'underpaid' || state === 'processing')
    .reduce((sum, { attributedRaw }) => sum + attributedRaw, 0n)
}

function paymentView(payment: PaymentRow): Detail['payments'][number] {
  const { signature, attributedRaw, state, blockTime, receivedAt } = payment
  return {
    signature,
    amountRaw: attributedRaw.toString(),
    // Recorded a moment ago; and what names no intent is not in an intent's list.
    state: state === 'received' || state === 'unmatched' ? 'processing' : state,
    paidAt: blockTime?.getTime() ?? null,
    seenAt: receivedAt.getTime(),
  }
}

function timelineOf({ intent, settlement, payments }: IntentAccount, nowMs: number): Detail['timeline'] {
  const expired = !settlement?.creditedAt && nowMs > intent.expiresAt.getTime()
  const moments: Detail['timeline'] = [
    { event: 'created', at: intent.createdAt.getTime() },
    ...payments.map(({ signature, receivedAt }) => {
      return { event: 'payment_seen' as const, at: receivedAt.getTime(), signature }
    }),
    ...(expired ? [{ event: 'expired' as const, at: intent.expiresAt.getTime() }] : []),
    ...(settlement?.creditedAt
      ? [{ event: 'credited' as const, at: settlement.creditedAt.getTime(), signature: settlement.signature }]
      : []),
  ]
  return moments.sort((a, b) => a.at - b.at)
}
