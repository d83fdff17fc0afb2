/** A table before it takes a shape. Cells of the columns named in `words` are text, the others numbers. */
export interface Table {
  title: string
  columns: readonly string[]
  rows: readonly (readonly string[])[]
  /** How many columns from the left hold words. */
  words: number
}

export function asText({ title, columns, rows, words }: Table): string {
  const widths = columns.map((column, at) => Math.max(column.length, ...rows.map(row => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at < words ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  return [title, line(columns), line(widths.map(width => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

export function asMarkdown({ title, columns, rows, words }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const ruler = columns.map((_, at) => (at < words ? '---' : '---:'))
  return [`**${title}**`, '', line(columns), line(ruler), ...rows.map(line)].join('\n')
}

/** Three significant digits or whole thousands: more would be noise. */
export function figure(value: number | undefined | null): string {
  if (value === undefined || value === null || Number.isNaN(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
