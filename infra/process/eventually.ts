export interface EventuallyOptions {
  /** The bound; a wait without one hides a broken guarantee. */
  withinMs?: number
  everyMs?: number
}

/**
 * Polls until `attempt` neither throws nor returns `undefined`, `null` or `false`, and returns its value.
 * Throws the last failure when the time is over.
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { withinMs = 5_000, everyMs = 20 }: EventuallyOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + withinMs
  for (;;) {
    let failure: unknown
    try {
      const value = await attempt()
      if (value !== undefined && value !== null && value !== false) return value as Exclude<T, false | null | undefined> // just checked
    } catch (error) {
      failure = error
    }
    if (performance.now() >= deadline) {
      throw new Error(`not within ${withinMs} ms${failure ? `: ${message(failure)}` : ''}`, { cause: failure })
    }
    await Bun.sleep(everyMs)
  }
}

function message(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}
