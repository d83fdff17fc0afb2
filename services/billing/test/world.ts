import { connectBus } from '@tollgate/bus'
import { startChain } from '@tollgate/chain'
import {
  type AccountId,
  type BusUser,
  type ErrorBody,
  EVENTS_STREAM,
  getUser,
  ledger,
  newId,
  type TopupAnswer,
  type UserId,
  usdFromMicro,
  type VerifyTopupAnswer,
  type WireOf,
} from '@tollgate/contracts'
import { openDatabase } from '@tollgate/db'
import { nats, postgres, startService, type TestService } from '@tollgate/testing'
import { createPayer } from './payer.ts'

export interface WorldOptions {
  slotMs?: number
  watcherEnv?: Record<string, string>
  billingEnv?: Record<string, string>
}

export type World = Awaited<ReturnType<typeof startWorld>>

/** A caller, as the router's identity names it. */
export interface Caller {
  acct: AccountId
  usr: UserId
}

/**
 * Everything that a top-up passes through, for real: a chain, Postgres, NATS, the ledger, chain-watcher and billing as
 * their own processes. Only `auth.user` is answered here, with the ledger's word: who a wallet is does not matter.
 */
export async function startWorld(options: WorldOptions = {}) {
  const chain = startChain({ port: 0, slotMs: options.slotMs ?? 50 })
  const [database, server] = await Promise.all([postgres({ services: ['billing', 'ledger', 'chain-watcher'] }), nats()])
  const connect = (user: BusUser) => connectBus({ ...server.as(user), name: `test ${user}`, user })
  const [auth, operator, proxy, asBilling] = await Promise.all([
    connect('auth'),
    connect('operator'),
    connect('metering-proxy'),
    connect('billing'),
  ])
  await auth.ensureStream(EVENTS_STREAM)

  const balance = async (account: AccountId) => (await operator.call(ledger.balance, { account })).postedMicro
  auth.serve(getUser, async ({ account }) => {
    const creditsMicro = await balance(account)
    const credits = { creditsMicro: Number(creditsMicro), creditsUsd: usdFromMicro(creditsMicro) }
    const user = { id: newId('user'), wallet: chain.payer.address, tier: 'standard', tierLabel: 'Standard' }
    return { status: 'found', user: { ...user, tokenBalance: 0, ...credits } }
  })

  const env = (service: 'ledger' | 'billing' | 'chain-watcher') => ({
    DATABASE_URL: database.urls[service].runtime,
    NATS_URL: server.url,
    NATS_PASSWORD: server.as(service).password,
  })
  const startLedger = (more: Record<string, string> = {}) => startService('ledger', { ...env('ledger'), ...more })
  const startBilling = (more: Record<string, string> = {}) =>
    startService('billing', {
      ...env('billing'),
      TOKEN_PRICE_USD: '0.5',
      SWEEP_INTERVAL_MS: '200',
      ...options.billingEnv,
      ...more,
    })
  const startWatcher = (more: Record<string, string> = {}) =>
    startService('chain-watcher', {
      ...env('chain-watcher'),
      SOLANA_RPC_URLS: chain.rpc,
      SOLANA_NETWORK: 'localnet',
      TOKEN_MINT: chain.mint,
      TREASURY: chain.treasury,
      SCAN_INTERVAL_MS: '200',
      FINALITY_CHECK_MS: '200',
      ...options.watcherEnv,
      ...more,
    })
  const started = await Promise.all([startLedger(), startBilling(), startWatcher()])
  const running = { ledger: started[0], billing: started[1], watcher: started[2] }
  const starters = { ledger: startLedger, billing: startBilling, watcher: startWatcher }

  const newCaller = (): Caller => ({ acct: newId('account'), usr: newId('user') })
  const topup = async (as: Caller, amount = '10', service: TestService = running.billing) => {
    const answer = await service.ask<WireOf<typeof TopupAnswer>>('POST', '/billing/topup', { as, body: { amount } })
    if (answer.status !== 200) throw new Error(`topup answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body.intent
  }
  const verify = (as: Caller, body: unknown, service: TestService = running.billing) =>
    service.ask<Partial<WireOf<typeof VerifyTopupAnswer> & ErrorBody>>('POST', '/billing/verify', { as, body })

  const sql = openDatabase({ url: database.adminUrl, connections: 1, applicationName: 'test' })
  /** What billing has recorded of a payment; null before. */
  const paymentState = async (signature: string): Promise<string | null> => {
    const text = 'select state from billing.payment where signature = $1'
    const [row] = await sql.query<{ state: string }>(text, [signature])
    return row?.state ?? null
  }

  return {
    chain,
    sql,
    paymentState,
    database,
    server,
    operator,
    proxy,
    asBilling,
    /** The services that run now. */
    running,
    kill: (name: keyof typeof running) => running[name].kill9(),
    async start(name: keyof typeof running, env: Record<string, string> = {}) {
      running[name] = await starters[name](env)
    },
    payer: createPayer(chain),
    startBilling,
    newCaller,
    balance,
    topup,
    verify,
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(running).map(service => service.stop()))
      await Promise.all([auth.close(), operator.close(), proxy.close(), asBilling.close(), sql.close()])
      await Promise.all([database.stop(), server.stop()])
      chain.stop()
    },
  }
}
