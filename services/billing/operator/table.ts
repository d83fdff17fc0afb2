import { writeDecimal } from '../decimal.ts'
import { microFor } from '../quote.ts'
import type { Listed } from './store.ts'

/** Payments as lines for a person: what happened, to whom, and what it is worth at the price of the quote. */
export function paymentTable(listed: readonly Listed[]): string {
  if (listed.length === 0) return 'No payment waits for you.'
  return listed.map(entry => [headline(entry), ...details(entry)].join('\n')).join('\n\n')
}

function headline({ payment }: Listed): string {
  const done = payment.resolvedAt ? `  (done ${payment.resolvedAt.toISOString()})` : ''
  return `${payment.state.padEnd(10)} ${payment.signature}${done}`
}

function details({ payment, intent, notes }: Listed): string[] {
  const at = payment.blockTime?.toISOString() ?? 'unknown'
  const lines = [`  paid at ${at}, received ${payment.deltaRaw} base units`]
  if (intent) {
    const { decimals, expiresAt, account, reference } = intent
    lines.push(
      `  for ${account}, reference ${reference}`,
      `  asked ${writeDecimal(intent.tokenRaw, decimals)} tokens for ${writeDecimal(intent.usdMicro, 6)} USD until ${expiresAt.toISOString()}`,
      `  counts ${writeDecimal(payment.attributedRaw, decimals)} tokens, worth ${writeDecimal(microFor(payment.attributedRaw, intent), 6)} USD at that price`,
    )
  }
  return [...lines, ...notes.map(({ at: noted, text }) => `  ${noted.toISOString()} ${text}`)]
}
