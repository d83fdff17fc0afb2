import type { Route } from './catalogue.ts'
import { UpstreamFailure } from './providers/failure.ts'
import type { ChatAnswer, Chunk, StreamReader, UpstreamRequest } from './providers/provider.ts'
import { readChunks, readText } from './reading.ts'
import { type Watchdog, watchdog } from './watchdog.ts'

/** What is asked of a provider, whatever its kind. */
export interface Task {
  request(route: Route, limit: number): UpstreamRequest
  /** Reads a whole answer; throws the failure that it is when it is none. */
  answer(route: Route, body: unknown): ChatAnswer
  /** Reads the stream that was asked for; null when a whole answer was. */
  readonly reader: ((route: Route) => StreamReader) | null
  /** The limit to try instead of one that was too long; null when that would not help. */
  smaller(limit: number, failure: UpstreamFailure): number | null
}

/** How long a provider may be silent. */
export interface Patience {
  /** Until the first event of a stream. */
  readonly firstEventMs: number
  /** Until the status of a whole answer, which comes when all of it is made. */
  readonly answerMs: number
  /** Between two reads once it has begun. */
  readonly idleMs: number
}

export interface Attempt {
  readonly route: Route
  readonly task: Task
  readonly limit: number
  readonly life: AbortSignal
  readonly patience: Patience
  /** Called when nothing more is read of an answer. */
  onEnd(): void
}

/** An answer, or a stream of which the first chunks have come. */
export type Attempted =
  | { readonly answer: ChatAnswer; readonly chunks: null }
  | { readonly answer: null; readonly chunks: AsyncIterable<readonly Chunk[]> }

/** Asks one provider once, under watch. Throws an `UpstreamFailure`. */
export async function attempt({ route, task, limit, life, patience, onEnd }: Attempt): Promise<Attempted> {
  const watch = watchdog(life)
  const text = (response: Response) => readText(response, watch, patience.idleMs)
  try {
    watch.allow(task.reader ? patience.firstEventMs : patience.answerMs)
    const response = await send(task.request(route, limit), watch)
    if (response.status !== 200) {
      watch.allow(patience.idleMs)
      throw route.provider.failure(response.status, response.headers, await text(response))
    }
    if (!task.reader) {
      const answer = task.answer(route, parsed(await text(response)))
      watch.stop()
      onEnd()
      return { answer, chunks: null }
    }
    if (!isStream(response)) throw notStreaming(route, task, await text(response))
    const chunks = readChunks(response, task.reader(route), { watch, idleMs: patience.idleMs })
    const first = await chunks.next()
    if (first.done) throw new UpstreamFailure('failed', 'the provider streamed nothing')
    return { answer: null, chunks: rest(first.value, chunks, watch, onEnd) }
  } catch (error) {
    const failure = watch.explain(error)
    watch.stop()
    throw failure
  }
}

async function* rest(
  first: readonly Chunk[],
  chunks: AsyncIterable<readonly Chunk[]>,
  watch: Watchdog,
  onEnd: () => void,
): AsyncGenerator<readonly Chunk[]> {
  try {
    yield first
    yield* chunks
  } catch (error) {
    throw watch.explain(error)
  } finally {
    watch.stop()
    onEnd()
  }
}

function send(request: UpstreamRequest, { signal }: Watchdog): Promise<Response> {
  return fetch(request.url, {
    method: 'POST',
    // Uncompressed: a compressed stream waits for its blocks, and what it grows to is anyone's guess.
    headers: { ...request.headers, 'accept-encoding': 'identity', 'user-agent': 'tollgate' },
    body: request.body,
    signal,
    // A provider that redirects could lead our key, and the prompt, to anyone.
    redirect: 'manual',
    // Ours are better: Bun's own timer ends every answer that is silent for five minutes.
    timeout: false,
  })
}

function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.includes('text/event-stream') ?? false
}

/** A whole answer where a stream was asked for: an error with status 200, or a server that can't stream. */
function notStreaming(route: Route, task: Task, text: string): UpstreamFailure {
  try {
    task.answer(route, parsed(text))
  } catch (error) {
    if (error instanceof UpstreamFailure) return error
  }
  return new UpstreamFailure('failed', 'the provider answered a stream with something else')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UpstreamFailure('failed', 'the provider answered no JSON')
  }
}
