/** Counts the server-sent events of a stream as its bytes arrive, and reads when the upstream sent each. */
export interface EventCounter {
  /** Returns the times of day (ms) at which the events that end in these bytes were sent; NaN for one without a stamp. */
  read(text: string): number[]
}

const STAMP = /"system_fingerprint":"fp_([\d.]+)"/

/** An event may arrive in pieces; it counts with the bytes that end it. */
export function countEvents(): EventCounter {
  let rest = ''
  return {
    read(text) {
      const events = (rest + text).split('\n\n')
      rest = events.pop() ?? ''
      return events.map(event => Number(STAMP.exec(event)?.[1] ?? Number.NaN))
    },
  }
}
