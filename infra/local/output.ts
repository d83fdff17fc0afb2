/** What a person at the console sees. Logs go to files. */
export interface Output {
  line(text: string): void
  /** Says that a slow step goes on, every few seconds, and how long it took. */
  step<T>(what: string, work: () => Promise<T>): Promise<T>
}

const PROGRESS_EVERY_MS = 3_000

export function createOutput(print: (text: string) => void = text => console.log(text)): Output {
  return {
    line: print,
    async step(what, work) {
      const started = performance.now()
      const ticker = setInterval(() => print(`  ${what} ... ${seconds(started)}`), PROGRESS_EVERY_MS)
      try {
        const result = await work()
        print(`  ${what.padEnd(10)} ready (${seconds(started)})`)
        return result
      } finally {
        clearInterval(ticker)
      }
    },
  }
}

export function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}

/** Log lines are JSON; a person wants the words. Lines of other programs pass as they are. */
export function readable(log: string): string {
  return log
    .split('\n')
    .map(line => {
      try {
        const { msg, err } = JSON.parse(line)
        return [msg, err?.message].filter(Boolean).join(': ') || line
      } catch {
        return line
      }
    })
    .join('\n')
}
