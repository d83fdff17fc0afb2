/**
 * What comes within this time, else null. Its timer ends with the wait: one that runs on would hold on to everything that
 * the promise leads to, for each of hundreds of requests a second.
 */
export async function within<T>(coming: Promise<T>, waitMs: number): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(resolve, waitMs, null)
  try {
    return await Promise.race([coming, late])
  } finally {
    clearTimeout(timer)
  }
}
