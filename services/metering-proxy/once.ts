import type { Records } from '@tollgate/bus'
import { PublicError } from '@tollgate/contracts'
import type { Account, Log } from '@tollgate/service'
import { type Claim, KEPT_BYTES_MAX, type Kept, type KnownClaim, keptFor } from './kept.ts'
import { BEAT_MS, keepAlive, type OurClaim, recorded } from './our-claim.ts'
import { type Seal, sealFor } from './sealing.ts'
import type { Texts } from './stream.ts'

export interface OnceOptions {
  readonly records: Records
  readonly secrets: readonly string[]
  readonly log: Log
  /** How long a repeat waits for the first request: as long as that may take. */
  readonly waitMs: number
}

export interface OnceRequest {
  readonly caller: Account
  readonly idempotencyKey: string
  readonly body: Uint8Array
  readonly signal: AbortSignal
  /** Runs the request; `tap` has to see a stream's texts, whether or not somebody reads them. */
  run(tap: Tap): Promise<Response>
}

/** Lets the texts of a stream through. */
export type Tap = (texts: Texts) => Texts

const KEY_FORMAT = /^[\x21-\x7e]{1,255}$/
/** A running request says so more often than this; one that was silent so long is dead, and its claim another's to take. */
const DEAD_AFTER_MS = 5 * BEAT_MS
const POLL_MS = { first: 50, most: 500 } as const

/**
 * `Idempotency-Key`: the first request with a key runs, and what it was charged for is kept and given to every repeat, streams
 * too. A repeat with another body is 400; one that comes while the first runs waits for it. A request that failed or was
 * refused without a charge is forgotten: its repeat is a new request.
 */
export async function once(request: OnceRequest, options: OnceOptions): Promise<Response> {
  const { caller, idempotencyKey, body } = request
  if (!KEY_FORMAT.test(idempotencyKey)) {
    throw new PublicError('bad_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters')
  }
  const seal = sealFor({ account: caller.acct, apiKey: caller.key, idempotencyKey }, options.secrets)
  const kept = keptFor(options.records, seal)
  const claim: Claim = {
    v: 1,
    state: 'running',
    fingerprint: seal.fingerprint(body),
    owner: caller.rid,
    contentType: '',
    parts: 0,
  }
  const claiming = { kept, seal, claim, waitMs: options.waitMs }
  const claimed = await claimOrReplay(request, claiming).catch(unavailable)
  if (claimed instanceof Response) return claimed
  return await runAndKeep(request, keepAlive({ kept, claim, revision: claimed, log: options.log }))
}

interface Claiming {
  readonly kept: Kept
  readonly seal: Seal
  readonly claim: Claim
  readonly waitMs: number
}

/** The revision of the claim that is now ours, or the kept answer of the one who had it. */
async function claimOrReplay(
  { body, signal }: OnceRequest,
  { kept, seal, claim, waitMs }: Claiming,
): Promise<number | Response> {
  const started = performance.now()
  let seen = { revision: -1, since: started }
  let ours = await kept.claim(claim)
  if (ours !== null) return ours
  for (let pollMs: number = POLL_MS.first; ; pollMs = Math.min(pollMs * 2, POLL_MS.most)) {
    const known = await kept.known()
    if (!known) ours = await kept.claim(claim)
    else {
      if (known.owner === claim.owner) return known.revision
      if (!seal.matches(known.fingerprint, body)) {
        throw new PublicError('bad_request', 'this Idempotency-Key was used with another request')
      }
      if (known.state !== 'running') return await replay(kept, known)
      const now = performance.now()
      if (known.revision !== seen.revision) seen = { revision: known.revision, since: now }
      if (now - seen.since > DEAD_AFTER_MS) ours = await kept.change(claim, known.revision)
    }
    if (ours !== null) return ours
    if (signal.aborted || performance.now() - started > waitMs) throw stillRunning()
    await Bun.sleep(pollMs)
  }
}

async function replay(kept: Kept, claim: KnownClaim): Promise<Response> {
  if (claim.state === 'lost') {
    throw new PublicError('bad_request', 'the first answer for this Idempotency-Key could not be kept; use a new one')
  }
  const headers = { 'content-type': claim.contentType, 'cache-control': 'no-cache', 'idempotent-replayed': 'true' }
  return new Response(await kept.answer(claim), { headers })
}

async function runAndKeep({ run }: OnceRequest, ours: OurClaim): Promise<Response> {
  let streams = false
  try {
    const response = await run(texts => {
      streams = true
      return recorded(texts, ours)
    })
    if (streams) return response
    const bytes = new Uint8Array(await response.arrayBuffer())
    await ours.keep(response.headers.get('content-type') ?? '', bytes.length > KEPT_BYTES_MAX ? null : bytes)
    return new Response(bytes, response)
  } catch (error) {
    await ours.forget()
    throw error
  }
}

function stillRunning(): PublicError {
  return new PublicError('service_unavailable', 'the first request with this Idempotency-Key still runs; try again', {
    retryAfterSeconds: 5,
  })
}

/** Without the store we can't tell whether this is a repeat, and running it might charge twice. */
function unavailable(error: unknown): never {
  if (error instanceof PublicError) throw error
  throw new PublicError('service_unavailable', 'idempotency keys can not be looked up just now; try again', {
    retryAfterSeconds: 1,
    cause: error,
  })
}
