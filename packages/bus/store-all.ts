import { headers, type NatsConnection } from 'nats'
import { toBytes } from './codec.ts'
import { BusFault } from './faults.ts'

/** A message for a stream; the same `id` within the stream's window is stored once. */
export interface Enqueued {
  subject: string
  wire: unknown
  id: string
}

const MESSAGE_ID_HEADER = 'Nats-Msg-Id'

/**
 * Has JetStream store many messages, in their order, for a fraction of what as many single publishes cost: all are sent at
 * once, and one subscription counts the acknowledgements. Throws `BusFault('unavailable')` when one is missing or refused;
 * the others may be stored then, and the ids make it safe to send all of them again.
 */
export async function storeAll(
  connection: NatsConnection,
  inbox: string,
  messages: readonly Enqueued[],
  timeoutMs: number,
): Promise<void> {
  if (messages.length === 0) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const unavailable = (reason: string) => reject(new BusFault('unavailable', `not all was stored: ${reason}`))
  const acknowledged = new Set<string>()

  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (error, answer) => {
      if (error) return unavailable(error.message)
      const refusal = refusalIn(answer.data)
      if (refusal) return unavailable(refusal)
      acknowledged.add(answer.subject)
      if (acknowledged.size === messages.length) resolve()
    },
  })
  const timer = setTimeout(unavailable, timeoutMs, 'no acknowledgement in time')
  try {
    messages.forEach(({ subject, wire, id }, index) => {
      const header = headers()
      header.set(MESSAGE_ID_HEADER, id)
      connection.publish(subject, toBytes(wire), { reply: `${inbox}.${index}`, headers: header })
    })
    await promise
  } finally {
    clearTimeout(timer)
    subscription.unsubscribe()
  }
}

const chars = new TextDecoder()

/** Why a stream did not take the message; an empty answer is the server saying that no stream listens. */
function refusalIn(answer: Uint8Array): string | null {
  if (answer.length === 0) return 'no stream listens'
  const text = chars.decode(answer)
  return text.includes('"error"') ? text : null
}
