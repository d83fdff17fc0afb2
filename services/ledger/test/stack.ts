import { join } from 'node:path'
import { type Bus, connectBus } from '@tollgate/bus'
import { type AccountId, type BusUser, ledger, newId } from '@tollgate/contracts'
import { eventually, nats, postgres, type TestPostgres } from '@tollgate/testing'
import { audit, openAudits } from '../store.ts'

export interface StackOptions {
  /** Postgres; a fresh database of the shared cluster by default. */
  database?: Pick<TestPostgres, 'adminUrl' | 'urls' | 'stop'>
  env?: Record<string, string>
}

export interface LedgerProcess {
  readonly pid: number
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

/** Ledgers as they run in production: processes of their own, on a real NATS and a real Postgres with the real users and roles. */
export async function stack(options: StackOptions = {}) {
  const broker = await nats()
  const database = options.database ?? (await postgres({ services: ['ledger'] }))
  const running = new Set<LedgerProcess>()
  const buses: Bus[] = []
  const audits = openAudits(database.adminUrl)

  /** Another ledger; `main` is what runs instead of the service. */
  function start(main = join(import.meta.dir, '..', 'index.ts')): LedgerProcess {
    const child = Bun.spawn([process.execPath, main], {
      env: {
        PATH: process.env.PATH ?? '',
        DATABASE_URL: database.urls.ledger.runtime,
        NATS_URL: broker.url,
        NATS_PASSWORD: broker.as('ledger').password,
        LOG_LEVEL: 'fatal',
        // Ends with this process, however that ends.
        SUPERVISED: '1',
        ...options.env,
      },
      stdin: 'pipe',
      stdout: 'inherit',
      stderr: 'inherit',
    })
    const ledgerProcess: LedgerProcess = {
      pid: child.pid,
      async kill(signal) {
        running.delete(ledgerProcess)
        child.kill(signal)
        await child.exited
      },
    }
    running.add(ledgerProcess)
    return ledgerProcess
  }

  async function as(user: BusUser): Promise<Bus> {
    const bus = await connectBus({ ...broker.as(user), user, name: `${user} test` })
    buses.push(bus)
    return bus
  }

  const operator = await as('operator')
  return {
    broker,
    database,
    running,
    start,
    as,
    operator,
    proxy: await as('metering-proxy'),
    /** Answers as soon as one ledger does. */
    answering: (withinMs = 10_000) =>
      eventually(() => operator.call(ledger.balance, { account: newId('account') }, { deadlineMs: 1_000 }), {
        withinMs,
      }),
    /** A new account with this much on it. */
    async funded(amountMicro: bigint): Promise<AccountId> {
      const account = newId('account')
      await operator.call(ledger.adjust, { id: `grant:${account}`, account, amountMicro, reason: 'test' })
      return account
    },
    audit: () => audit(audits),
    rows: (statement: string) => audits.query<Record<string, unknown>>(statement, []),
    async stop() {
      await Promise.all(buses.map(bus => bus.close()))
      await Promise.all([...running].map(process => process.kill('SIGTERM')))
      await audits.close()
      await Promise.all([database.stop(), broker.stop()])
    },
  }
}

export type Stack = Awaited<ReturnType<typeof stack>>
