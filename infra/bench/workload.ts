import type { Kind } from './plan.ts'
import type { Pace } from './targets/target.ts'

/** A short chat: the smaller the answer, the more of the time is the gateway's. */
const TOKENS = 20
/** Role, tokens, the end, the usage, `[DONE]`. */
export const EVENTS_PER_STREAM = TOKENS + 4
/** Above what is answered, as callers set it. */
const MAX_TOKENS = 64
const MESSAGES = [
  { role: 'system', content: 'You are a terse assistant.' },
  { role: 'user', content: 'What does the river do with the light? Answer in some twenty words.' },
]

/**
 * The pace of a measurement. Alone, a stream goes fast, for many samples; many go at the pace of a model (20 to 100 tokens
 * a second), so that the machine is busy and not overrun.
 */
export function paceOf(kind: Kind, connections: number): Pace {
  if (kind !== 'paced') return { tokens: TOKENS, intervalMs: 0 }
  return { tokens: TOKENS, intervalMs: connections === 1 ? 5 : connections <= 16 ? 10 : 50 }
}

/** A stream that begins and then is silent, but for pings; below the silence at which it would be cut. */
export const idlePace: Pace = { tokens: TOKENS, intervalMs: 80_000 }

/** Every pace there is: a catalogue has a model for each. */
export const paces: readonly Pace[] = [
  paceOf('json', 1),
  paceOf('paced', 1),
  paceOf('paced', 16),
  paceOf('paced', 64),
  idlePace,
]

export function bodyOf(kind: Kind, model: string): string {
  return JSON.stringify({
    model,
    messages: MESSAGES,
    max_tokens: MAX_TOKENS,
    ...(kind !== 'json' && { stream: true, stream_options: { include_usage: true } }),
  })
}
