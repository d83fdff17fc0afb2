import { type AccountFormat, encodeAccount } from '../encoding/account.ts'
import type { TransactionRecord } from '../state/ledger.ts'
import { accountFormat } from './account-methods.ts'
import { COMMITMENTS, type Commitment, commitmentOf } from './commitment.ts'
import type { Node } from './methods.ts'
import { addressAt, integerAt, isOptions, listAt, optionsAt, type Params, signatureAt } from './params.ts'
import { invalidParams } from './rpc-error.ts'

/** Where a subscriber's notifications go. */
export type Listener = { send(method: string, subscription: number, result: unknown): void }

type Topic =
  | { kind: 'signature'; signature: string; commitment: Commitment }
  | { kind: 'account'; address: string; commitment: Commitment; format: AccountFormat }
  | { kind: 'logs'; mentions: string | null; commitment: Commitment }
  | { kind: 'slot' }

type Subscription = { id: number; listener: Listener; topic: Topic }

/** A landed transaction on its way through the commitments; `told` counts those that subscribers were told of. */
type Event = { record: TransactionRecord; changed: string[]; told: number }

/** Slots to report after a jump; a real node would have reported each when it passed. */
const MAX_SLOTS_AT_ONCE = 32

/** All subscriptions of a node. `tick` must be called whenever a slot may have passed. */
export class Subscriptions {
  readonly #node: Node
  readonly #subscriptions = new Map<number, Subscription>()
  #events: Event[] = []
  #nextId = 1
  #slot: number

  constructor(node: Node) {
    this.#node = node
    this.#slot = node.view.slot('processed')
    node.chain.onTransaction((record, changed) => {
      this.#events.push({ record, changed, told: 0 })
      this.#deliver()
    })
  }

  /** Handles one of the (un)subscribe methods; null when the method is none of them. */
  call(listener: Listener, method: string, params: Params): { result: unknown } | null {
    if (method.endsWith('Unsubscribe')) return { result: this.#subscriptions.delete(integerAt(params, 0)) }
    const topic = this.#topic(method, params)
    if (topic === null) return null
    const subscription = { id: this.#nextId++, listener, topic }
    this.#subscriptions.set(subscription.id, subscription)
    // A signature that is far enough already is told at once, but after the caller has learnt its subscription.
    if (topic.kind === 'signature') queueMicrotask(() => this.#tellIfReached(subscription))
    return { result: subscription.id }
  }

  drop(listener: Listener): void {
    for (const [id, subscription] of this.#subscriptions) {
      if (subscription.listener === listener) this.#subscriptions.delete(id)
    }
  }

  tick(): void {
    const newest = this.#node.view.slot('processed')
    const first = Math.max(this.#slot + 1, newest - MAX_SLOTS_AT_ONCE + 1)
    for (let slot = first; slot <= newest; slot++) this.#tellSlot(slot)
    this.#slot = Math.max(this.#slot, newest)
    this.#deliver()
  }

  #topic(method: string, params: Params): Topic | null {
    const commitment = () => commitmentOf(optionsAt(params, 1), this.#node.view)
    switch (method) {
      case 'signatureSubscribe':
        return { kind: 'signature', signature: signatureAt(params, 0), commitment: commitment() }
      case 'accountSubscribe':
        return {
          kind: 'account',
          address: addressAt(params, 0),
          commitment: commitment(),
          format: accountFormat(optionsAt(params, 1)),
        }
      case 'logsSubscribe':
        return { kind: 'logs', mentions: mentionsAt(params), commitment: commitment() }
      case 'slotSubscribe':
        return { kind: 'slot' }
      default:
        return null
    }
  }

  /** Tells subscribers of every transaction that has reached further commitments since. */
  #deliver(): void {
    const { chain, view } = this.#node
    this.#events = this.#events.filter(({ record }) => chain.ledger.get(record.signature) === record)
    for (const event of this.#events) {
      for (let next = COMMITMENTS[event.told]; next && view.has(event.record, next); next = COMMITMENTS[event.told]) {
        event.told += 1
        this.#tellTransaction(event, next)
      }
    }
    this.#events = this.#events.filter(({ told }) => told < COMMITMENTS.length)
  }

  #tellTransaction({ record, changed }: Event, commitment: Commitment): void {
    for (const subscription of this.#subscriptions.values()) {
      const { topic } = subscription
      if (topic.kind === 'slot' || topic.commitment !== commitment) continue
      if (topic.kind === 'signature' && topic.signature === record.signature) this.#tellSignature(subscription, record)
      if (topic.kind === 'account' && changed.includes(topic.address))
        this.#tellAccount(subscription, topic, record.slot)
      if (topic.kind === 'logs' && (topic.mentions === null || record.keys.includes(topic.mentions))) {
        const { signature, err, logs } = record
        this.#tell(subscription, 'logsNotification', record.slot, { signature, err, logs })
      }
    }
  }

  #tellIfReached(subscription: Subscription): void {
    const { topic } = subscription
    const { chain, view } = this.#node
    const record = topic.kind === 'signature' ? chain.ledger.get(topic.signature) : null
    if (topic.kind !== 'signature' || record === null || !this.#subscriptions.has(subscription.id)) return
    if (view.has(record, topic.commitment)) this.#tellSignature(subscription, record)
  }

  /** A signature's subscription ends with its one notification. */
  #tellSignature(subscription: Subscription, { slot, err }: TransactionRecord): void {
    this.#subscriptions.delete(subscription.id)
    this.#tell(subscription, 'signatureNotification', slot, { err })
  }

  #tellAccount(subscription: Subscription, { address, format }: Topic & { kind: 'account' }, slot: number): void {
    const { chain } = this.#node
    const account = chain.bank.account(address) ?? {
      address,
      owner: '11111111111111111111111111111111',
      lamports: 0n,
      data: new Uint8Array(),
      executable: false,
    }
    const value = encodeAccount(account, format, other => chain.bank.account(other))
    this.#tell(subscription, 'accountNotification', slot, value)
  }

  #tellSlot(slot: number): void {
    const root = this.#node.view.slot('finalized')
    for (const { id, listener, topic } of this.#subscriptions.values()) {
      if (topic.kind === 'slot') listener.send('slotNotification', id, { parent: slot - 1, slot, root })
    }
  }

  #tell({ id, listener }: Subscription, method: string, slot: number, value: unknown): void {
    listener.send(method, id, { context: { slot }, value })
  }
}

/** The address that logs must mention, or null for all of them. */
function mentionsAt(params: Params): string | null {
  const filter = params[0]
  if (filter === 'all' || filter === 'allWithVotes') return null
  if (!isOptions(filter)) throw invalidParams('expected `all`, `allWithVotes` or {"mentions": [address]}')
  return addressAt(listAt([filter.mentions], 0, 1), 0)
}
