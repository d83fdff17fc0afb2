import type { StaticDecode, TSchema } from '@sinclair/typebox'
import {
  type Ask,
  type BusUser,
  type Event,
  inboxPrefix,
  type Limit,
  type LimitName,
  type PayloadOf,
  type ReplyOf,
  type RequestOf,
  type StreamSpec,
} from '@tollgate/contracts'
import { connect, createInbox, Events, type JetStreamClient, type JetStreamManager, type NatsConnection } from 'nats'
import { type Bucket, openBucket } from './bucket.ts'
import { type CallOptions, callOne } from './call.ts'
import { coalescer } from './coalesce.ts'
import { codecOf, fromBytes, toBytes } from './codec.ts'
import {
  type ConsumeOptions,
  type Consuming,
  consumeStream,
  type Delivery,
  replayStream,
  type Verdict,
} from './consume.ts'
import { type Limiter, limiter } from './limit.ts'
import { openRecords, type Records } from './records.ts'
import { createRequester, type Requester } from './requester.ts'
import {
  type BatchHandler,
  batchWork,
  type Handler,
  type Served,
  type ServeOptions,
  type SingleHandler,
  serveAsk,
  singleWork,
} from './serve.ts'
import { store } from './store.ts'
import { type Enqueued, storeAll } from './store-all.ts'
import { ensureStream } from './streams.ts'

export interface BusOptions {
  url: string
  user: BusUser
  password: string
  /** Shown in the server's monitoring. */
  name: string
  onFault?(subject: string, fault: unknown): void
  /** Called after every reconnect: memory streams may have vanished. */
  onReconnect?(): void
}

/** Everything that a service says to others, and hears from them. */
export interface Bus {
  readonly connected: boolean
  call<A extends Ask>(ask: A, request: RequestOf<A>, options?: CallOptions): Promise<ReplyOf<A>>
  serve<A extends Ask>(ask: A, handler: Handler<A>, options?: ServeOptions): Served
  /** Publishes a fact; done when JetStream stored it. The same `id` within the stream's window is stored once. */
  publish<E extends Event>(event: E, payload: PayloadOf<E>, options: { id: string; subject?: string }): Promise<void>
  /** Puts wire bytes on a stream's subject; done when JetStream stored them. */
  enqueue(subject: string, wire: unknown, options: { id: string; timeoutMs?: number }): Promise<void>
  /** The same for many messages at once, in their order, at a fraction of the cost. Not all or nothing: repeat with the same ids. */
  enqueueAll(messages: readonly Enqueued[]): Promise<void>
  consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<Verdict>): Consuming
  /** Makes a durable read its stream from the beginning again; `between` runs while nobody reads. */
  replay(options: ConsumeOptions, between: () => Promise<void>): Promise<void>
  /** Fire and forget, for hints whose loss is harmless. */
  notify<S extends TSchema>(subject: string, schema: S, payload: StaticDecode<S>): void
  /** Hears hints and facts as they pass, at most once. With `queue`, replicas share them. */
  listen<S extends TSchema>(subject: string, schema: S, hear: (payload: StaticDecode<S>) => void, queue?: string): void
  ensureStream(spec: StreamSpec): Promise<void>
  bucket(name: string, ttlMs: number): Bucket
  records(name: string, ttlMs: number): Records
  limiter(name: LimitName, limit: Limit): Limiter
  /** Lets what is in flight finish, then closes. */
  close(): Promise<void>
}

/** Pings find a half-open connection in seconds, where the client's defaults take minutes; reconnecting never ends. */
const CONNECTION = { pingInterval: 5_000, maxPingOut: 2, reconnectTimeWait: 100, maxReconnectAttempts: -1 } as const

/** Time for JetStream to store a message, over all attempts. */
const STORE_TIMEOUT_MS = 5_000

/** Connects, waiting for the server if it is not up yet. */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const connection = await connect({
    servers: options.url,
    user: options.user,
    pass: options.password,
    name: options.name,
    inboxPrefix: inboxPrefix(options.user),
    waitOnFirstConnect: true,
    // Else the client takes a stack trace for every request.
    noAsyncTraces: true,
    ...CONNECTION,
  })
  // The API check would ask a question before we know that JetStream is up; each use says so itself.
  const js = connection.jetstream()
  const manager = await connection.jetstreamManager({ checkAPI: false })
  const state = { connected: true }
  const requester = createRequester(connection, inboxPrefix(options.user))
  void watch(connection, options, isUp => {
    state.connected = isUp
    requester.connected(isUp)
  })
  return bus({ connection, requester, js, manager, options, state })
}

async function watch(
  connection: NatsConnection,
  options: BusOptions,
  connected: (isUp: boolean) => void,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === Events.Disconnect) connected(false)
    if (status.type === Events.Reconnect) {
      connected(true)
      options.onReconnect?.()
    }
    if (status.type === Events.Error) options.onFault?.('nats', new Error(String(status.data)))
  }
  connected(false)
}

interface BusParts {
  connection: NatsConnection
  requester: Requester
  js: JetStreamClient
  manager: JetStreamManager
  options: BusOptions
  state: { connected: boolean }
}

function bus({ connection, requester, js, manager, options, state }: BusParts): Bus {
  const onFault = options.onFault
  const coalescers = new Map<Ask, (request: never) => Promise<unknown>>()

  /** The coalescer of a batched ask. Its options are those of the first call: an ask is asked with one set. */
  function coalesced<A extends Ask>(ask: A, callOptions: CallOptions): (request: RequestOf<A>) => Promise<ReplyOf<A>> {
    let call = coalescers.get(ask)
    if (!call) {
      call = coalescer(requester, ask, callOptions) as (request: never) => Promise<unknown>
      coalescers.set(ask, call)
    }
    // Kept by the ask itself, so that it is the coalescer of A.
    return call as (request: RequestOf<A>) => Promise<ReplyOf<A>>
  }

  return {
    get connected() {
      return state.connected
    },
    call: (ask, request, callOptions = {}) =>
      ask.batched ? coalesced(ask, callOptions)(request) : callOne(requester, ask, request, callOptions),
    serve(ask, handler, serveOptions = {}) {
      const merged = { ...(onFault && { onFault }), ...serveOptions }
      // `Handler` is chosen by `batched`, which the compiler can't follow through a generic.
      const work = ask.batched
        ? batchWork(ask, handler as unknown as BatchHandler<typeof ask>, merged.onFault)
        : singleWork(ask, handler as unknown as SingleHandler<typeof ask>)
      return serveAsk(connection, requester, ask, work, merged)
    },
    async publish(event, payload, { id, subject }) {
      await store(
        requester,
        subject ?? event.subject,
        toBytes(codecOf(event.payload).toWire(payload)),
        id,
        STORE_TIMEOUT_MS,
      )
    },
    async enqueue(subject, wire, { id, timeoutMs = STORE_TIMEOUT_MS }) {
      await store(requester, subject, toBytes(wire), id, timeoutMs)
    },
    enqueueAll: messages => storeAll(connection, createInbox(inboxPrefix(options.user)), messages, STORE_TIMEOUT_MS),
    consume: (consumeOptions, handle) =>
      consumeStream(js, manager, { ...(onFault && { onFault }), ...consumeOptions }, handle),
    replay: (consumeOptions, between) => replayStream(manager, consumeOptions, between),
    notify: (subject, schema, payload) => connection.publish(subject, toBytes(codecOf(schema).toWire(payload))),
    listen(subject, schema, hear, queue) {
      connection.subscribe(subject, {
        ...(queue && { queue }),
        callback: (error, message) => {
          try {
            if (error) throw error
            hear(codecOf(schema).fromWire(fromBytes(message.data)))
          } catch (fault) {
            onFault?.(subject, fault)
          }
        },
      })
    },
    ensureStream: spec => ensureStream(manager, spec),
    bucket: (name, ttlMs) => openBucket(js, name, ttlMs),
    records: (name, ttlMs) => openRecords(js, name, ttlMs),
    limiter: (name, limit) => limiter(requester, manager, name, limit),
    async close() {
      // What was answered in this turn leaves at its end.
      await new Promise(resolve => setImmediate(resolve))
      await connection.drain()
    },
  }
}
