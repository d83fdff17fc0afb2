import { type Bus, BusFault, connectBus } from '@tollgate/bus'
import {
  type AccountId,
  type BusUser,
  type CreatedKey,
  hashKey,
  type KeyId,
  type KeyList,
  keyChanged,
  ledger,
  newId,
  type ReplyOf,
  type RequestOf,
  resolveKey,
  type WireOf,
} from '@tollgate/contracts'
import { session } from '@tollgate/db/session'
import { type AskOptions, eventually, nats, postgres, startService } from '@tollgate/testing'

export type Caller = ReturnType<typeof newCaller>
export type KeysUnderTest = Awaited<ReturnType<typeof startKeys>>

/** A user with a session, as the router would sign it. */
export function newCaller() {
  return { acct: newId('account'), usr: newId('user'), key: null, session: newId('session') }
}

/** The same account, calling with one of its keys. */
export function bearing(caller: Caller, key: KeyId) {
  return { ...caller, session: null, key }
}

/** The service as its own process, on its own Postgres and NATS, with a router's ear and a ledger's voice. */
export async function startKeys() {
  const [database, server] = await Promise.all([postgres({ services: ['keys'] }), nats()])
  const service = await startService('keys', {
    NATS_URL: server.url,
    NATS_PASSWORD: server.as('keys').password,
    DATABASE_URL: database.urls.keys.runtime,
  })
  const as = (user: BusUser) => connectBus({ ...server.as(user), user, name: `test as ${user}` })
  const [router, ledgerBus] = await Promise.all([as('router'), as('ledger')])
  const changed: string[] = []
  router.listen(keyChanged.subject, keyChanged.payload, ({ keyHash }) => changed.push(keyHash))

  return {
    ...service,
    nats: server,
    router,
    /** Hashes that routers were told to forget. */
    changed,
    ledger: ledgerOf(ledgerBus),
    sql: (statement: string) => session(database.urls.keys.owner, run => run(statement)),
    /** Calls while the statement is done but not committed; commits when each call was answered or waits for it. */
    async while<T>(statement: string, ...calls: (() => Promise<T>)[]): Promise<T[]> {
      return session(database.urls.keys.owner, async run => {
        await run('begin')
        await run(statement)
        let open = calls.length
        const answers = calls.map(call => call().finally(() => open--))
        await eventually(async () => Number((await run(WAITING))[0]?.count) === open)
        await run('commit')
        return Promise.all(answers)
      })
    },
    create: (as: AskOptions['as'], body?: unknown) =>
      service.ask<WireOf<typeof CreatedKey>>('POST', '/keys', { ...(as && { as }), body }),
    async list(as: NonNullable<AskOptions['as']>) {
      return (await service.ask<WireOf<typeof KeyList>>('GET', '/keys', { as })).body
    },
    resolve: (key: string) => router.call(resolveKey, { keyHash: hashKey(key) }),
    async stop() {
      await service.stop()
      await Promise.all([router.close(), ledgerBus.close()])
      await Promise.all([database.stop(), server.stop()])
    },
  }
}

/** Statements of the service that wait for a lock. */
const WAITING = `select count(*) from pg_locks join pg_stat_activity using (pid)
  where datname = current_database() and usename = 'keys' and not granted`

type Spend = ReplyOf<typeof ledger.keySpend>['keys'][number]

/** A stand-in that keeps caps and closings as the ledger's contract says; the ledger's own tests hold the real one to it. */
function ledgerOf(bus: Bus) {
  const state = { down: false, caps: new Map<KeyId, Spend>(), closed: new Set<KeyId>(), accounts: new Set<AccountId>() }
  const eachOf =
    <Request, Reply>(answer: (request: Request) => Reply) =>
    async (requests: Request[]) =>
      requests.map(request => (state.down ? new BusFault('unavailable', 'down') : answer(request)))

  bus.serve(
    ledger.setCap,
    eachOf(({ key, capMicro, window, account }: RequestOf<typeof ledger.setCap>) => {
      state.accounts.add(account)
      if (state.closed.has(key)) return { status: 'refused', reason: 'key_closed', availableMicro: 0n } as const
      const resetsAt = window === 'none' ? null : 1_800_000_000_000
      state.caps.set(key, { key, capMicro, window, spentMicro: 250_000n, heldMicro: 0n, resetsAt })
      return { status: 'cap_set' } as const
    }),
  )
  bus.serve(
    ledger.closeKey,
    eachOf(({ key }: RequestOf<typeof ledger.closeKey>) => {
      state.closed.add(key)
      return { status: 'key_closed' } as const
    }),
  )
  bus.serve(ledger.keySpend, ({ keys }) => {
    if (state.down) throw new BusFault('unavailable', 'down')
    return { keys: keys.flatMap(key => state.caps.get(key) ?? []) }
  })
  return state
}
