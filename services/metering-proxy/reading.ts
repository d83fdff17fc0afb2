import { UpstreamFailure } from './providers/failure.ts'
import type { Chunk, StreamReader } from './providers/provider.ts'
import { eventDecoder, type ServerEvent } from './sse.ts'
import type { Watchdog } from './watchdog.ts'

/** A whole answer at most: as much as a caller may send. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024
/** A stream at most: far beyond any context, for one that never ends. */
const STREAM_BYTES_MAX = 256 * 1024 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text of an answer, read under watch and within bounds. */
export async function readText(response: Response, watch: Watchdog, idleMs: number): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of bytesOf(response, watch, idleMs)) {
    bytes += part.length
    if (bytes > ANSWER_BYTES_MAX) throw new UpstreamFailure('failed', `the answer exceeds ${ANSWER_BYTES_MAX} bytes`)
    parts.push(part)
  }
  return decoded(Buffer.concat(parts))
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new UpstreamFailure('failed', 'the provider answered no UTF-8')
  }
}

/**
 * The chunks of a stream, those of one read together, none empty. Ends when the provider said that it is whole; an end before
 * that is a failure, since a client could not tell it from a whole answer.
 */
export async function* readChunks(
  response: Response,
  reader: StreamReader,
  { watch, idleMs }: { watch: Watchdog; idleMs: number },
): AsyncGenerator<readonly Chunk[]> {
  const decoder = eventDecoder()
  let bytes = 0
  const chunksOf = (events: ServerEvent[]): Chunk[] => {
    const chunks: Chunk[] = []
    for (const event of events) if (reader.state !== 'ended') chunks.push(...reader.read(event))
    return chunks
  }
  for await (const part of bytesOf(response, watch, idleMs)) {
    bytes += part.length
    if (bytes > STREAM_BYTES_MAX) throw new UpstreamFailure('failed', `the stream exceeds ${STREAM_BYTES_MAX} bytes`)
    const chunks = chunksOf(decoder.push(part))
    if (chunks.length > 0) yield chunks
    if (reader.state === 'ended') return
  }
  const last = chunksOf(decoder.end())
  if (last.length > 0) yield last
  if (reader.state === 'open') throw new UpstreamFailure('failed', 'the provider ended its stream before its answer')
}

async function* bytesOf(response: Response, watch: Watchdog, idleMs: number): AsyncGenerator<Uint8Array> {
  if (!response.body) return
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      watch.allow(idleMs)
      yield value
    }
  } finally {
    // Ends the connection when nobody wants the rest.
    void reader.cancel().catch(() => undefined)
  }
}
