/** A row of a bar plot. */
export interface Bar {
  name: string
  value: number
}

const WIDTH = 50
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** Horizontal bars in text, to the eighth of a character, the longest over the whole width. */
export function plot(title: string, bars: readonly Bar[]): string {
  const longest = Math.max(...bars.map(({ value }) => value))
  const nameWidth = Math.max(...bars.map(({ name }) => name.length))
  const lines = bars.map(({ name, value }) => {
    const eighths = Math.round((value / longest) * WIDTH * 8)
    const bar = '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '')
    return `${name.padEnd(nameWidth)}  ${bar} ${Math.round(value).toLocaleString('en-US')}`
  })
  return [title, ...lines].join('\n')
}
