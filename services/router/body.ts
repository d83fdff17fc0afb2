import { PublicError, type Route } from '@tollgate/contracts'

/** A request's body, bounded: none, whole, or as it comes. */
export type Body = { kind: 'none' } | { kind: 'whole'; bytes: Uint8Array } | BodyStream

interface BodyStream {
  kind: 'stream'
  /** `onEnd` is told when the last byte was read. */
  open(onEnd: () => void): ReadableStream<Uint8Array>
  /** Why the stream was broken off, when it was. */
  broken(): PublicError | null
}

/** Up to here a body is read whole, so that services see complete requests only; longer ones flow. */
const WHOLE_MAX_BYTES = 256 * 1024
/** A small body that takes longer is a slow-body attack. */
const WHOLE_WITHIN_MS = 20_000
/** 32 MB at a tenth of a megabyte a second. */
const STREAM_WITHIN_MS = 330_000

/**
 * Takes the body of a request, at most `bodyMaxBytes` of it, whatever its content-length says. Throws 400 beyond that, for a
 * compressed body (its true size is unknown) and for one that does not arrive in time.
 */
export function takeBody(request: Request, { bodyMaxBytes }: Route): Promise<Body> | Body {
  if (request.method === 'GET' || request.method === 'HEAD') return { kind: 'none' }
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw new PublicError('bad_request', 'send the body uncompressed')
  }
  const length = request.headers.get('content-length')
  if (length === null && request.headers.get('transfer-encoding') === null) return { kind: 'none' }
  const declared = length === null ? null : Number(length)
  if (declared !== null && declared > bodyMaxBytes) throw tooLarge(bodyMaxBytes)
  if (declared !== null && declared <= WHOLE_MAX_BYTES) return readDeclared(request)
  if (bodyMaxBytes <= WHOLE_MAX_BYTES) return readCounted(request, bodyMaxBytes)
  return streamCounted(request, bodyMaxBytes)
}

/** Its length is known and Bun holds the caller to it. */
async function readDeclared(request: Request): Promise<Body> {
  const late = deadline(WHOLE_WITHIN_MS)
  try {
    const bytes = request.bytes().catch(cause => {
      throw cutShort(cause)
    })
    return { kind: 'whole', bytes: await Promise.race([bytes, late.promise]) }
  } finally {
    late.clear()
  }
}

/** Chunked, on a route whose bodies are small. */
async function readCounted(request: Request, bodyMaxBytes: number): Promise<Body> {
  const stream = streamCounted(request, bodyMaxBytes)
  const late = deadline(WHOLE_WITHIN_MS)
  try {
    return {
      kind: 'whole',
      bytes: await Promise.race([new Response(stream.open(() => undefined)).bytes(), late.promise]),
    }
  } catch (error) {
    throw stream.broken() ?? error
  } finally {
    late.clear()
  }
}

function streamCounted(request: Request, bodyMaxBytes: number): BodyStream {
  const reader = request.body?.getReader()
  const startedAt = performance.now()
  let seenBytes = 0
  let broken: PublicError | null = null

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>, onEnd: () => void): Promise<void> {
    const chunk = await reader?.read().catch(cause => {
      broken = cutShort(cause)
      throw broken
    })
    if (!chunk || chunk.done) {
      onEnd()
      return controller.close()
    }
    seenBytes += chunk.value.byteLength
    if (seenBytes > bodyMaxBytes) broken = tooLarge(bodyMaxBytes)
    else if (performance.now() - startedAt > STREAM_WITHIN_MS) broken = tooSlow()
    if (!broken) return controller.enqueue(chunk.value)
    void reader?.cancel().catch(() => undefined)
    controller.error(broken)
  }

  return {
    kind: 'stream',
    // Opened again when a replica refused the connection: nothing was read then.
    open: onEnd => new ReadableStream({ pull: controller => pull(controller, onEnd) }, { highWaterMark: 0 }),
    broken: () => broken,
  }
}

function deadline(ms: number): { promise: Promise<never>; clear(): void } {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(tooSlow()), ms)
  return { promise, clear: () => clearTimeout(timer) }
}

function tooLarge(bodyMaxBytes: number): PublicError {
  return new PublicError('bad_request', `the body is larger than ${bodyMaxBytes} bytes`)
}

/** The caller is gone, or said more bytes than he sent: nobody reads the answer. */
function cutShort(cause: unknown): PublicError {
  return new PublicError('bad_request', 'the body ended before its length', { cause })
}

function tooSlow(): PublicError {
  return new TooSlow('bad_request', 'the body did not arrive in time')
}

/** The connection goes with it, or the caller would go on at his pace. (A body that is too large is read off instead: closing
 * on a caller that still sends can lose the answer.) */
class TooSlow extends PublicError {
  override toResponse(): Response {
    const answer = super.toResponse()
    answer.headers.set('connection', 'close')
    return answer
  }
}
