import { NONCE_BUCKET } from './auth.ts'
import { SETTLEMENTS_SUBJECT } from './ledger.ts'

const DAY_MS = 86_400_000

/** A stream of ours: who needs it ensures it at every connect, with exactly these settings. */
export interface StreamSpec {
  readonly name: string
  readonly subjects: readonly string[]
  readonly storage: 'file' | 'memory'
  readonly retention: 'limits' | 'workqueue'
  readonly maxAgeMs: number
  readonly duplicateWindowMs: number
  /** Limits are streams that refuse a caller's next message while its window is full. */
  readonly maxPerSubject?: number
}

/** Facts, kept for a month so that a consumer can be rebuilt or catch up; Postgres can re-publish any of them. */
export const EVENTS_STREAM: StreamSpec = {
  name: 'EVENTS',
  subjects: ['events.>'],
  storage: 'file',
  retention: 'limits',
  maxAgeMs: 30 * DAY_MS,
  duplicateWindowMs: 120_000,
}

/** Settlements that wait for the ledger. Kept until it took them, a week at most: long past any hold's life. */
export const SETTLEMENTS_STREAM: StreamSpec = {
  name: 'SETTLEMENTS',
  subjects: [`${SETTLEMENTS_SUBJECT}.>`],
  storage: 'file',
  retention: 'workqueue',
  maxAgeMs: 7 * DAY_MS,
  duplicateWindowMs: 120_000,
}

/** Answers kept for callers who repeat a request with the same idempotency key. */
export const ANSWERS_BUCKET = 'answers'
export const ANSWERS_STREAM = `KV_${ANSWERS_BUCKET}`

/** The stream behind the nonce bucket, named as NATS names KV streams. */
export const NONCE_STREAM = `KV_${NONCE_BUCKET}`
