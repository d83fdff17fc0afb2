import { within } from './within.ts'

/** A streamed answer as it comes; returns whether it was charged. */
export type Texts = AsyncGenerator<string, boolean>

/** How a stream is kept alive towards its reader, and what happens when the reader leaves. */
export interface StreamOptions {
  /** A comment is sent after this much silence, before proxies and idle timers on the way cut the stream. */
  readonly pingMs: number
  /** The reader left; the rest of the texts is read all the same. */
  onLeave(): void
}

const PING = ': ping\n\n'
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Buffering proxies would turn a stream into one late answer.
  'x-accel-buffering': 'no',
}
const encoder = new TextEncoder()

/**
 * Answers with texts as they come, pulled at the reader's pace: nothing piles up for a slow one. A reader who leaves (its
 * cancel, or its request's signal) does not end the texts: they are read to their end, unheard, so that they can be billed.
 */
export function streamed(texts: Texts, readerGone: AbortSignal, options: StreamOptions): Response {
  let next: Promise<IteratorResult<string>> | undefined
  let left = false

  async function leave(): Promise<void> {
    if (left) return
    left = true
    options.onLeave()
    for (;;) {
      next ??= texts.next()
      const { done } = await next
      next = undefined
      if (done) return
    }
  }
  if (readerGone.aborted) void leave()
  else readerGone.addEventListener('abort', leave, { once: true })

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= texts.next()
        const result = await within(next, options.pingMs)
        if (left) return
        if (result === null) return controller.enqueue(encoder.encode(PING))
        next = undefined
        if (!result.done) return controller.enqueue(encoder.encode(result.value))
        readerGone.removeEventListener('abort', leave)
        left = true
        controller.close()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: HEADERS })
}
