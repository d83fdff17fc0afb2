import type { ledger, Transaction, WireOf } from '@tollgate/contracts'

type View = WireOf<typeof Transaction>

/** The kinds of the journal that can change a balance. Holds and releases do not. */
export const BALANCE_KINDS: ledger.JournalEntry['kind'][] = ['credit', 'adjust', 'settle', 'expire']

const kinds: Partial<Record<ledger.JournalEntry['kind'], View['kind']>> = {
  credit: 'credit',
  adjust: 'adjustment',
  settle: 'charge',
  expire: 'charge',
}

/** A journal entry as the account's owner reads it; null where it changed nothing (a refusal, an expiry without a cost). */
export function transactionView(entry: ledger.JournalEntry): View | null {
  const kind = kinds[entry.kind]
  if (!kind || entry.refusal !== null || (entry.amountMicro === 0n && entry.kind !== 'settle')) return null
  const common = {
    id: entry.id,
    kind,
    at: entry.at,
    amountMicro: Number(entry.amountMicro),
    balanceMicro: Number(entry.postedMicro),
    ...(entry.key !== null && { key: entry.key }),
  }
  const { text, integer, detail } = reader(entry.detail)
  switch (entry.kind) {
    case 'settle':
      return {
        ...common,
        ...text('requestId', 'model', 'outcome'),
        ...integer('promptTokens', 'cachedTokens', 'completionTokens', 'inMicro', 'outMicro'),
        ...(detail.estimated === true && { estimated: true }),
      }
    case 'expire':
      return { ...common, outcome: 'expired', ...(entry.hold !== null && { requestId: requestOf(entry.hold) }) }
    case 'credit':
      return {
        ...common,
        ...text('signature', 'price'),
        ...(typeof detail.tokenRaw === 'string' && { tokenAmountRaw: detail.tokenRaw }),
      }
    default:
      return { ...common, ...text('reason') }
  }
}

/** `hold:<request id>` names the request that a hold was for. */
function requestOf(hold: string): string {
  return hold.replace(/^hold:/, '')
}

/** The journal keeps details as it got them: fields are copied when they are of their type. */
function reader(detail: Readonly<Record<string, unknown>>) {
  const pick = <T>(fits: (value: unknown) => value is T) =>
    function picked<K extends string>(...fields: K[]): Partial<Record<K, T>> {
      const found = fields.flatMap(field => {
        const value = detail[field]
        return fits(value) ? [[field, value] as const] : []
      })
      return Object.fromEntries(found) as Partial<Record<K, T>> // only fields that were asked for
    }
  return {
    detail,
    text: pick((value): value is string => typeof value === 'string'),
    integer: pick((value): value is number => Number.isSafeInteger(value)),
  }
}
