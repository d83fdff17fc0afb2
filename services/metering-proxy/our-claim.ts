import type { Log } from '@tollgate/service'
import { type Claim, KEPT_BYTES_MAX, type Kept } from './kept.ts'
import type { Texts } from './stream.ts'

/** How often a running request says that it runs. */
export const BEAT_MS = 2_000
/** To write a claim that is still ours. */
const ATTEMPTS_MAX = 3
const STREAM_TYPE = 'text/event-stream; charset=utf-8'
const encoder = new TextEncoder()

/** Our claim, kept alive until the request ends one way or the other. */
export interface OurClaim {
  keep(contentType: string, answer: Uint8Array | null): Promise<void>
  forget(): Promise<void>
}

export interface Claimed {
  readonly kept: Kept
  readonly claim: Claim
  readonly revision: number
  readonly log: Log
}

export function keepAlive({ kept, claim, revision, log }: Claimed): OurClaim {
  let current: number | null = revision
  const failed = (err: unknown) => log.warn({ err, requestId: claim.owner }, 'a repeatable request could not be noted')
  /** Null or a fault does not say that it was not written: the record does, and whose it is. */
  const change = async (next: Claim) => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX && current !== null; attempt++) {
      const changed = await kept.change(next, current).catch(failed)
      if (typeof changed === 'number') {
        current = changed
        return
      }
      const known = await kept.known()
      current = known?.owner === claim.owner ? known.revision : null
    }
  }
  let working = Promise.resolve()
  // One after the other: each needs the revision that the one before made.
  const inTurn = (work: () => Promise<void>) => {
    working = working.then(work).catch(failed)
    return working
  }
  const beat = setInterval(() => void inTurn(() => change(claim)), BEAT_MS)

  return {
    keep(contentType, answer) {
      clearInterval(beat)
      return inTurn(async () => {
        const parts = answer ? await kept.keep(claim.owner, answer).catch(failed) : undefined
        await change({ ...claim, state: parts === undefined ? 'lost' : 'done', contentType, parts: parts ?? 0 })
      })
    },
    forget() {
      clearInterval(beat)
      return inTurn(async () => {
        if (current !== null) await kept.forget(current)
      })
    },
  }
}

/** Keeps a stream when it ends, before its reader sees the end. */
export async function* recorded(texts: Texts, ours: OurClaim): Texts {
  const recording = recorder()
  let charged = true
  try {
    for (;;) {
      const { done, value } = await texts.next()
      if (done) {
        charged = value
        return value
      }
      recording.add(encoder.encode(value))
      yield value
    }
  } finally {
    await (charged ? ours.keep(STREAM_TYPE, recording.bytes()) : ours.forget())
  }
}

/** Collects an answer up to the size that is kept. */
function recorder() {
  const parts: Uint8Array[] = []
  let size = 0
  return {
    add(part: Uint8Array) {
      size += part.length
      if (size <= KEPT_BYTES_MAX) parts.push(part)
      else parts.length = 0
    },
    bytes: (): Uint8Array | null => (size > KEPT_BYTES_MAX ? null : Buffer.concat(parts)),
  }
}
