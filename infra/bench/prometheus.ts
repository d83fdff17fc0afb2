/** Sums of a histogram over a time: how often, and how long altogether. */
export interface Spent {
  count: number
  seconds: number
}

/** By name: a histogram's, with the part where it has several, as in `completion_seconds{part="hold"}`. */
export type Scrape = Readonly<Record<string, Spent>>

const SAMPLE = /^tollgate_(\w+)_(sum|count)(?:\{([^}]*)\})? (\S+)/

/** The sums and counts of all histograms of ours in Prometheus's text format; those of several replicas, and of other labels, add up. */
export function readHistograms(texts: readonly string[]): Scrape {
  const histograms: Record<string, Spent> = {}
  for (const line of texts.flatMap(text => text.split('\n'))) {
    const [, name, part, labels = '', value] = SAMPLE.exec(line) ?? []
    if (name === undefined) continue
    const own = labels.split(',').find(label => label.startsWith('part='))
    const key = own === undefined ? name : `${name}{${own}}`
    const entry = histograms[key] ?? { count: 0, seconds: 0 }
    entry[part === 'sum' ? 'seconds' : 'count'] += Number(value)
    histograms[key] = entry
  }
  return histograms
}

/** What was spent between two scrapes. */
export function spentBetween(before: Scrape, after: Scrape): Scrape {
  return Object.fromEntries(
    Object.entries(after).map(([name, { count, seconds }]) => {
      const was = before[name] ?? { count: 0, seconds: 0 }
      return [name, { count: count - was.count, seconds: seconds - was.seconds }]
    }),
  )
}
