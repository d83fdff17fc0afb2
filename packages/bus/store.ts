import { headers } from 'nats'
import { BusFault } from './faults.ts'
import type { Requester } from './requester.ts'
import { storeErrorOf } from './stored.ts'

const MESSAGE_ID_HEADER = 'Nats-Msg-Id'
const ATTEMPT_MS = 1_000
const RETRY_WAIT_MS = 50

/**
 * Has JetStream store a message, trying again until the deadline: a publish that was lost in a reconnect is never
 * answered, and the message id keeps a repeated one from being stored twice. Throws `BusFault('unavailable')`.
 */
export async function store(
  requester: Requester,
  subject: string,
  payload: Uint8Array,
  id: string,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const named = headers()
  named.append(MESSAGE_ID_HEADER, id)
  for (;;) {
    const remainingMs = deadline - performance.now()
    const attemptMs = Math.max(1, Math.min(ATTEMPT_MS, remainingMs))
    const answer = await requester.request(subject, payload, { timeoutMs: attemptMs, headers: named })
    const problem = typeof answer === 'string' ? answer : storeErrorOf(answer)?.description
    if (problem === undefined) return
    if (remainingMs <= RETRY_WAIT_MS) throw new BusFault('unavailable', `${subject} was not stored: ${problem}`)
    await Bun.sleep(RETRY_WAIT_MS)
  }
}
