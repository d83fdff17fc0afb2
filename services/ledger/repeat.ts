export interface Repeating {
  /** Ends when the round under way has ended. */
  stop(): Promise<void>
}

export interface RepeatOptions {
  /** Pause between two rounds. */
  everyMs: number
  /** One round. `true`: there is more to do, begin the next one at once. */
  round(): Promise<unknown>
  onFault(fault: unknown): void | Promise<void>
}

/** Does something again and again for as long as the process lives; a round that fails is logged, and the next one comes. */
export function repeat({ everyMs, round, onFault }: RepeatOptions): Repeating {
  const stopping = Promise.withResolvers<void>()
  let stopped = false

  async function run(): Promise<void> {
    while (!stopped) {
      const more = await round().catch(onFault)
      if (more !== true) await Promise.race([Bun.sleep(everyMs), stopping.promise])
    }
  }

  const running = run()
  return {
    stop() {
      stopped = true
      stopping.resolve()
      return running
    },
  }
}
