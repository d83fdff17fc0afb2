export interface Repeating {
  /** Runs the work now, or once more when it is under way. */
  soon(): void
  /** Lets the run under way finish, and starts no other. */
  stop(): Promise<void>
}

export interface RepeatOptions {
  /** The wait between the end of one run and the next. */
  everyMs: number | (() => number)
  onFault(fault: unknown): void
}

/** Does the same work again and again, one run at a time, until stopped. A run that throws is followed by the next. */
export function repeat(work: () => Promise<unknown>, { everyMs, onFault }: RepeatOptions): Repeating {
  let stopped = false
  let wanted = false
  let wake = () => {}

  async function run(): Promise<void> {
    while (!stopped) {
      wanted = false
      try {
        await work()
      } catch (fault) {
        onFault(fault)
      }
      if (!stopped && !wanted) await rest()
    }
  }

  function rest(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, typeof everyMs === 'number' ? everyMs : everyMs())
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const running = run()
  return {
    soon() {
      wanted = true
      wake()
    },
    stop() {
      stopped = true
      wake()
      return running
    },
  }
}
