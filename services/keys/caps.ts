import { randomUUID } from 'node:crypto'
import type { Bus } from '@tollgate/bus'
import { type AccountId, type KeyId, ledger } from '@tollgate/contracts'
import type { Cap } from './cap.ts'
import type { Spend } from './key.ts'

const READ_DEADLINE_MS = 2_000

export interface Caps {
  /** Caps and spending of an account's keys, by key. */
  of(account: AccountId, keys: readonly KeyId[]): Promise<Map<KeyId, Spend>>
  /** False when the key is closed. */
  set(account: AccountId, key: KeyId, cap: Cap): Promise<boolean>
  /** From the answer on, the key can't spend. */
  close(account: AccountId, key: KeyId): Promise<void>
}

/** The ledger keeps and enforces caps; all of these throw `BusFault` while it can't answer. */
export function ledgerCaps(bus: Pick<Bus, 'call'>): Caps {
  return {
    async of(account, keys) {
      if (keys.length === 0) return new Map()
      const reply = await bus.call(ledger.keySpend, { account, keys: [...keys] }, { deadlineMs: READ_DEADLINE_MS })
      return new Map(reply.keys.map(spend => [spend.key, spend]))
    },

    async set(account, key, cap) {
      // A change is its own operation: the cap may go back to what it was before.
      const id = `set_cap:${key}:${randomUUID()}`
      const reply = await bus.call(ledger.setCap, { id, account, key, ...cap })
      if (reply.status === 'refused' && reply.reason !== 'key_closed') throw refusedBy('set_cap', reply.reason)
      return reply.status === 'cap_set'
    },

    async close(account, key) {
      const reply = await bus.call(ledger.closeKey, { id: `close_key:${key}`, account, key })
      if (reply.status === 'refused' && reply.reason !== 'key_closed') throw refusedBy('close_key', reply.reason)
    },
  }
}

function refusedBy(operation: string, reason: string): Error {
  return new Error(`the ledger refused ${operation}: ${reason}`)
}
