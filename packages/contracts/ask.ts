import type { Static, StaticDecode, TSchema } from '@sinclair/typebox'

export const serviceNames = ['router', 'auth', 'keys', 'billing', 'metering-proxy', 'ledger', 'chain-watcher'] as const
export type ServiceName = (typeof serviceNames)[number]

/** Who may speak on NATS: the services, the operator's commands, and an internal consumer of events. */
export type BusUser = ServiceName | 'operator' | 'consumer'

/**
 * A question that one service answers on NATS request/reply.
 * `callers` becomes NATS permissions: nobody else can publish on the subject.
 */
export interface Ask<
  Request extends TSchema = TSchema,
  Reply extends TSchema = TSchema,
  Batched extends boolean = boolean,
> {
  readonly subject: string
  readonly owner: ServiceName
  readonly callers: readonly BusUser[]
  readonly request: Request
  readonly reply: Reply
  /** A money subject: the request names an `account`, and the subject's last token is that account's shard. */
  readonly sharded: boolean
  /** Calls made within one tick travel as one message, and the owner answers them together. */
  readonly batched: Batched
}

export type RequestOf<A extends Ask> = StaticDecode<A['request']>
export type ReplyOf<A extends Ask> = StaticDecode<A['reply']>

type AskOptions<Request extends TSchema, Reply extends TSchema> = Pick<
  Ask<Request, Reply>,
  'owner' | 'callers' | 'request' | 'reply'
> & { sharded?: boolean }

export function ask<Request extends TSchema, Reply extends TSchema>(
  subject: string,
  options: AskOptions<Request, Reply>,
): Ask<Request, Reply, false> {
  return { subject, batched: false, sharded: false, ...options }
}

/** An ask whose calls travel together. */
export function batchedAsk<Request extends TSchema, Reply extends TSchema>(
  subject: string,
  options: AskOptions<Request, Reply>,
): Ask<Request, Reply, true> {
  return { subject, batched: true, sharded: false, ...options }
}

/** A fact that one service publishes on JetStream, for whoever wants it. */
export interface Event<Payload extends TSchema = TSchema> {
  readonly subject: string
  readonly owner: ServiceName
  readonly payload: Payload
}

export type PayloadOf<E extends Event> = StaticDecode<E['payload']>
export type WireOf<S extends TSchema> = Static<S>

export function event<Payload extends TSchema>(
  subject: string,
  options: Omit<Event<Payload>, 'subject'>,
): Event<Payload> {
  return { subject, ...options }
}

/** Shards of the ledger. One today; more changes this mapping and the permissions made from it, not the callers. */
export const LEDGER_SHARDS = 1

/** The shard of an account: FNV-1a of its id, stable across services and releases. */
export function shardOf(account: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < account.length; i++) hash = Math.imul(hash ^ account.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % LEDGER_SHARDS
}
