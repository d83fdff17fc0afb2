import {
  AckPolicy,
  type ConsumerConfig,
  ConsumerEvents,
  type ConsumerMessages,
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  nanos,
} from 'nats'

/** What a consumer says of a message: dealt with, try again later, or never again and why. */
export type Verdict = 'done' | { retryAfterMs: number } | { terminal: string }

export interface ConsumeOptions {
  stream: string
  /** The durable's name: replicas that share it share the messages. */
  durable: string
  subject: string
  ackWaitMs?: number
  /** Messages in work at once in this process. */
  concurrency?: number
  onFault?(subject: string, fault: unknown): void
}

/** One message, as a consumer sees it. `deliveries` starts at 1. */
export interface Delivery {
  subject: string
  data: Uint8Array
  deliveries: number
}

export interface Consuming {
  stop(): Promise<void>
}

const ACK_WAIT_MS = 30_000
const CONCURRENCY = 16
const RESTART_WAIT_MS = 500
const BACKOFF_MS = { first: 250, most: 30_000 } as const

const GONE: ReadonlySet<string> = new Set([
  ConsumerEvents.ConsumerDeleted,
  ConsumerEvents.ConsumerNotFound,
  ConsumerEvents.StreamNotFound,
])

/**
 * Reads a durable consumer for as long as the process lives, across restarts of the server. JetStream delivers at least
 * once, so `handle` must be idempotent by a unique key of its own. What it throws is retried, later and later.
 */
export function consumeStream(
  js: JetStreamClient,
  manager: JetStreamManager,
  options: ConsumeOptions,
  handle: (delivery: Delivery) => Promise<Verdict>,
): Consuming {
  const concurrency = options.concurrency ?? CONCURRENCY
  const inFlight = new Set<Promise<void>>()
  let messages: ConsumerMessages | undefined
  let stopped = false

  async function readOnce(): Promise<void> {
    await ensureConsumer(manager, options)
    const consumer = await js.consumers.get(options.stream, options.durable)
    messages = await consumer.consume({ max_messages: concurrency })
    if (stopped) await messages.close()
    void endWhenGone(messages)
    for await (const message of messages) {
      const job = settleMessage(message, options, handle).finally(() => inFlight.delete(job))
      inFlight.add(job)
      if (inFlight.size >= concurrency) await Promise.race(inFlight)
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      try {
        await readOnce()
      } catch (fault) {
        options.onFault?.(options.subject, fault)
      }
      if (!stopped) await Bun.sleep(RESTART_WAIT_MS)
    }
  }

  const running = run()
  return {
    async stop() {
      stopped = true
      await messages?.close().catch(() => undefined)
      await Promise.all(inFlight)
      await running
    },
  }
}

/** The client asks for a lost consumer for ever, and never makes it again: end, and the next read makes it. */
async function endWhenGone(messages: ConsumerMessages): Promise<void> {
  for await (const { type } of await messages.status()) {
    if (GONE.has(type)) return void (await messages.close())
  }
}

/**
 * Makes a durable read its stream from the beginning again. `between` runs while the durable does not exist, so what its
 * readers built can be thrown away; they go on by themselves.
 */
export async function replayStream(
  manager: JetStreamManager,
  options: ConsumeOptions,
  between: () => Promise<void>,
): Promise<void> {
  await manager.consumers.delete(options.stream, options.durable)
  await between()
  await ensureConsumer(manager, options)
}

async function settleMessage(
  message: JsMsg,
  options: ConsumeOptions,
  handle: (delivery: Delivery) => Promise<Verdict>,
): Promise<void> {
  const deliveries = message.info.redeliveryCount
  try {
    const verdict = await handle({ subject: message.subject, data: message.data, deliveries })
    if (verdict === 'done') message.ack()
    else if ('retryAfterMs' in verdict) message.nak(verdict.retryAfterMs)
    else {
      options.onFault?.(message.subject, new Error(`terminal: ${verdict.terminal}`))
      // Without the reason: servers before 2.10 don't understand it, and would deliver the message for ever.
      message.term()
    }
  } catch (fault) {
    options.onFault?.(message.subject, fault)
    message.nak(Math.min(BACKOFF_MS.first * 2 ** Math.min(deliveries, 10), BACKOFF_MS.most))
  }
}

async function ensureConsumer(manager: JetStreamManager, options: ConsumeOptions): Promise<void> {
  const config: Partial<ConsumerConfig> = {
    durable_name: options.durable,
    filter_subject: options.subject,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(options.ackWaitMs ?? ACK_WAIT_MS),
    max_ack_pending: 1_024,
    // Nothing is dropped for having been retried often; whoever consumes bounds its own attempts.
    max_deliver: -1,
  }
  await manager.consumers.add(options.stream, config)
}
