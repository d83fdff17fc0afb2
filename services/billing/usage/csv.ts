import type { UsageRow, WireOf } from '@tollgate/contracts'

type Row = WireOf<typeof UsageRow>

const COLUMNS = [
  'day',
  'model',
  'key',
  'requests',
  'promptTokens',
  'cachedTokens',
  'completionTokens',
  'costMicro',
] as const satisfies (keyof Row)[]

/** Usage as RFC 4180 text with a header line. */
export function usageCsv(rows: readonly Row[]): string {
  const lines = [COLUMNS.join(','), ...rows.map(row => COLUMNS.map(column => cell(row[column])).join(','))]
  return `${lines.join('\r\n')}\r\n`
}

function cell(value: string | number | null): string {
  const text = String(value ?? '')
  // A spreadsheet would run a name that begins like a formula.
  const harmless = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
