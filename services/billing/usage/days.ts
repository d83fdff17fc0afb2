import { PublicError } from '@tollgate/contracts'
import { dayOf } from './charge.ts'

const DAY_MS = 86_400_000
/** Days that an answer covers when nothing else is asked for. */
const DEFAULT_DAYS = 30
/** A year, and the day that leap years have more. */
const DAYS_MAX = 366

/** The days that a caller asks about, first and last. Throws 400 for days that don't exist or are too many. */
export function daysOf(query: { from?: string; to?: string }, nowMs: number): { from: string; to: string } {
  const toMs = query.to === undefined ? nowMs : parseDay(query.to)
  const fromMs = query.from === undefined ? toMs - (DEFAULT_DAYS - 1) * DAY_MS : parseDay(query.from)
  if (fromMs > toMs) throw new PublicError('bad_request', '"from" must not be after "to"')
  if (toMs - fromMs > DAYS_MAX * DAY_MS) throw new PublicError('bad_request', `at most ${DAYS_MAX} days at once`)
  return { from: dayOf(fromMs), to: dayOf(toMs) }
}

function parseDay(text: string): number {
  const atMs = Date.parse(`${text}T00:00:00Z`)
  // Dates roll over: the 31st of June would become the 1st of July.
  if (Number.isNaN(atMs) || dayOf(atMs) !== text) throw new PublicError('bad_request', `"${text}" is no day`)
  return atMs
}
