import { randomBytes, randomUUID } from 'node:crypto'
import type { Bus } from '@tollgate/bus'
import {
  type CreatedKey,
  type CreateKeyRequest,
  hashKey,
  isId,
  KEY_PREFIX,
  KEY_RANDOM_BYTES,
  type KeyId,
  type KeyList,
  keyChanged,
  MAX_ACTIVE_KEYS,
  newId,
  newKeySecret,
  type PatchKeyRequest,
  PublicError,
  type RollKeyRequest,
  type WireOf,
} from '@tollgate/contracts'
import type { Account } from '@tollgate/service'
import { capChangeOf, changedCap, noCap } from './cap.ts'
import type { Caps } from './caps.ts'
import {
  checkedExpiry,
  checkedModels,
  checkedName,
  DEFAULT_NAME,
  isLimited,
  type Key,
  type ListedKey,
  listed,
} from './key.ts'
import type { Store } from './store.ts'

export interface KeyRingParts {
  store: Store
  caps: Caps
  bus: Pick<Bus, 'publish'>
  now?: () => number
}

/** Who asks: the account, and the key if a key carried the request. */
export type Caller = Pick<Account, 'acct' | 'usr' | 'key'>

export type KeyRing = ReturnType<typeof keyRing>

const NOTICE = 'Store this key now: it is shown only once and cannot be recovered.'
/** Long enough to deploy the new secret everywhere. */
const GRACE_SECONDS = 24 * 3_600

/** What a user does with keys (interface.md, "GET /keys" and following). */
export function keyRing({ store, caps, bus, now = Date.now }: KeyRingParts) {
  return {
    async list({ acct, usr, key: caller }: Caller): Promise<WireOf<typeof KeyList>> {
      const keys = await store.listKeys(usr)
      const spends = await caps.of(
        acct,
        keys.map(key => key.id),
      )
      const own = keys.find(key => key.id === caller)
      const limited = own ? isLimited(own, spends.get(own.id) ?? noCap) : caller !== null
      return {
        canCreate: keys.length < MAX_ACTIVE_KEYS && !limited,
        data: keys.map(key => listed(key, spends.get(key.id))),
      }
    },

    /** A cap is the ledger's before the key exists: there is no moment in which the key could spend without it. */
    async create(caller: Caller, request: WireOf<typeof CreateKeyRequest>): Promise<WireOf<typeof CreatedKey>> {
      const name = checkedName(request.name ?? DEFAULT_NAME)
      const models = checkedModels(request.models ?? null)
      const expiresAt = checkedExpiry(request.expiresAt ?? null, now())
      const cap = changedCap(capChangeOf(request), noCap)
      await refuseLimited(caller)

      const { acct: account, usr: user } = caller
      const id = newId('key')
      const fresh = newSecret()
      if (cap.capMicro !== null && !(await caps.set(account, id, cap))) {
        throw new Error('the ledger has closed a key that does not exist yet')
      }
      const createdAt = await store.createKey({ id, user, account, name, models, expiresAt, ...fresh.stored })
      if (createdAt === null) {
        throw new PublicError('forbidden', `you have ${MAX_ACTIVE_KEYS} keys: revoke one to create another`)
      }
      return shownOnce(fresh.secret, { id, name, createdAt })
    },

    /** Answers when no router and no hold will take the key any more. Revoking it again does all of it again. */
    async revoke({ usr }: Caller, id: string): Promise<void> {
      if (!isId('key', id)) throw unknownKey()
      const revoked = await store.revokeKey(usr, id)
      if (!revoked) throw unknownKey()
      const hashes = await store.hashesOf(id)
      await Promise.all([caps.close(revoked.account, id), announce(id, hashes)])
    },

    /** What the request leaves out stays; null lifts a cap, an expiry or a list of models. */
    async change(caller: Caller, id: string, request: WireOf<typeof PatchKeyRequest>): Promise<ListedKey> {
      const change = {
        ...(request.name !== undefined && { name: checkedName(request.name) }),
        ...(request.models !== undefined && { models: checkedModels(request.models) }),
        ...(request.expiresAt !== undefined && { expiresAt: checkedExpiry(request.expiresAt, now()) }),
      }
      const capChange = capChangeOf(request)
      await refuseLimited(caller)
      const key = await keyOf(caller, id)

      if (capChange.capMicro !== undefined || capChange.window !== undefined) {
        const present = (await caps.of(key.account, [key.id])).get(key.id) ?? noCap
        if (!(await caps.set(key.account, key.id, changedCap(capChange, present)))) throw unknownKey()
      }
      const changed = await store.changeKey(caller.usr, key.id, change)
      if (!changed) throw unknownKey()
      await announce(key.id, await store.hashesOf(key.id))
      return listed(changed, (await caps.of(key.account, [key.id])).get(key.id))
    },

    /** A new secret for the key; the former ones end with the grace. */
    async roll(caller: Caller, id: string, request: WireOf<typeof RollKeyRequest>): Promise<WireOf<typeof CreatedKey>> {
      await refuseLimited(caller)
      const key = await keyOf(caller, id)
      const fresh = newSecret()
      const graceSeconds = request.graceSeconds ?? GRACE_SECONDS
      const outcome = await store.rollKey({ id: key.id, user: caller.usr, graceSeconds, ...fresh.stored })
      if (outcome.status === 'unknown') throw unknownKey()
      if (outcome.status === 'crowded') {
        throw new PublicError(
          'bad_request',
          'this key was rolled too often within its grace: wait, or roll with graceSeconds 0',
        )
      }
      await announce(key.id, outcome.formerHashes)
      return shownOnce(fresh.secret, key)
    },
  }

  async function keyOf({ usr }: Caller, id: string): Promise<Key> {
    const key = isId('key', id) ? await store.findKey(usr, id) : null
    if (!key) throw unknownKey()
    return key
  }

  /** A key with a cap, an end or a list of models must not make itself a key without (interface.md, `403 forbidden`). */
  async function refuseLimited({ acct, usr, key: caller }: Caller): Promise<void> {
    if (caller === null) return
    const key = await store.findKey(usr, caller)
    const cap = (await caps.of(acct, [caller])).get(caller) ?? noCap
    if (!key || isLimited(key, cap)) {
      throw new PublicError('forbidden', 'a key with a cap, an expiry or a model list may not create or change keys')
    }
  }

  /** Tells the routers to forget what they know of these secrets. */
  async function announce(key: KeyId, hashes: readonly string[]): Promise<void> {
    const at = now()
    const change = randomUUID()
    await Promise.all(
      hashes.map(keyHash =>
        bus.publish(keyChanged, { v: 1, key, keyHash, at }, { id: `key_changed:${change}:${keyHash}` }),
      ),
    )
  }
}

function newSecret() {
  const secret = newKeySecret(randomBytes(KEY_RANDOM_BYTES))
  return { secret, stored: { hash: hashKey(secret), last4: secret.slice(-4) } }
}

function shownOnce(secret: string, { id, name, createdAt }: Pick<ListedKey, 'id' | 'name' | 'createdAt'>) {
  return { key: secret, id, name, prefix: KEY_PREFIX, last4: secret.slice(-4), createdAt, notice: NOTICE }
}

/** The same for a key that is not there, is revoked, or is another user's. */
function unknownKey(): PublicError {
  return new PublicError('not_found', 'you have no key with this id')
}
