export interface RelayOptions {
  /** Ends the request to the service. */
  aborting: AbortController
  /** The stream is over, however it ended. May be called more than once. */
  finish(): void
  /** For tests. */
  stallMs?: number
}

/** A caller that takes nothing for so long is gone, or holds us and the service on purpose. */
const STALL_MS = 60_000

/**
 * An answer's body, passed on chunk by chunk as the caller takes it: nothing is read ahead, so a caller that stops reading
 * stops the service. Where the service breaks off, so does the caller's connection: a truncated answer never ends cleanly.
 */
export function relay(body: ReadableStream<Uint8Array>, options: RelayOptions): ReadableStream<Uint8Array> {
  const { aborting, stallMs = STALL_MS } = options
  const reader = body.getReader()
  /** When a chunk was given that the caller has not taken yet; null while we wait for the service. */
  let givenAt: number | null = null
  const watch = setInterval(() => {
    if (givenAt !== null && performance.now() - givenAt > stallMs) aborting.abort()
  }, stallMs / 4)
  const finish = () => {
    clearInterval(watch)
    options.finish()
  }
  // The caller can leave before the first chunk is asked for, and `cancel` is not called then.
  aborting.signal.addEventListener('abort', finish, { once: true })

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        givenAt = null
        try {
          const { done, value } = await reader.read()
          if (!done) {
            givenAt = performance.now()
            return controller.enqueue(value)
          }
          finish()
          controller.close()
        } catch {
          finish()
          controller.error(new Error('the service broke off'))
        }
      },
      cancel() {
        aborting.abort()
      },
    },
    { highWaterMark: 0 },
  )
}
