import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BusFault } from '@tollgate/bus'
import { getUser, hashSession, ledger, newId, resolveSession, tokenBalance } from '@tollgate/contracts'
import { type AuthUnderTest, cookieOf, newWallet, startAuth } from './auth.test-helpers.ts'
import { tokenBalances, uiUnits } from './token-balances.ts'

let auth: AuthUnderTest
const ledgerSays = { postedMicro: 1_234_567n, down: false }
/** `silent`: asked, and never answers. */
const chainSays: { state: 'ok' | 'unavailable' | 'silent'; asked: number } = { state: 'ok', asked: 0 }

beforeAll(async () => {
  auth = await startAuth()
  const [ledgerBus, chainBus] = await Promise.all([auth.as('ledger'), auth.as('chain-watcher')])
  ledgerBus.serve(ledger.balance, () => {
    if (ledgerSays.down) throw new BusFault('unavailable', 'down')
    return { postedMicro: ledgerSays.postedMicro, heldMicro: 7n, availableMicro: ledgerSays.postedMicro - 7n }
  })
  chainBus.serve(tokenBalance, async () => {
    chainSays.asked++
    if (chainSays.state === 'silent') await new Promise(() => undefined)
    if (chainSays.state === 'unavailable') return { status: 'unavailable', reason: 'no node answers' }
    return { status: 'ok', balanceRaw: 1_500_000n, decimals: 6 }
  })
}, 30_000)
afterAll(() => auth.stop())

async function signIn() {
  const wallet = newWallet()
  const answer = await auth.verify(await auth.signed(wallet))
  return { wallet, answer }
}

async function whoIs({ answer }: Awaited<ReturnType<typeof signIn>>) {
  const router = await auth.as('router')
  const session = await router.call(resolveSession, { sessionHash: hashSession(cookieOf(answer).token) })
  if (session.status !== 'active') throw new Error('no session')
  return { acct: session.account, usr: session.user, session: session.session }
}

test('a user shows what the ledger has posted, whoever asks for it', async () => {
  const someone = await signIn()
  const user = {
    id: someone.answer.body.user.id,
    wallet: someone.wallet.address,
    tier: 'standard',
    tierLabel: 'Standard',
    tokenBalance: 1.5,
    creditsMicro: 1_234_567,
    creditsUsd: 1.234567,
  }
  expect(someone.answer.body).toEqual({ user })
  const as = await whoIs(someone)
  expect(await auth.ask('GET', '/auth/me', { as })).toMatchObject({ status: 200, body: { user } })
  const billing = await auth.as('billing')
  expect(await billing.call(getUser, { account: as.acct })).toEqual({ status: 'found', user })
  expect(await billing.call(getUser, { account: newId('account') })).toEqual({ status: 'unknown' })
})

test('a chain that can’t be asked holds nobody up: tokens show as none', async () => {
  for (const state of ['unavailable', 'silent'] as const) {
    chainSays.state = state
    const begun = performance.now()
    const { answer } = await signIn()
    expect(performance.now() - begun).toBeLessThan(1_500)
    expect(answer).toMatchObject({ status: 200, body: { user: { tokenBalance: 0, creditsMicro: 1_234_567 } } })
  }
  chainSays.state = 'ok'
})

test('credits are never made up: without the ledger there is no user, and no session is left behind', async () => {
  const someone = await signIn()
  const as = await whoIs(someone)
  ledgerSays.down = true
  const unavailable = { status: 503, body: { error: { code: 'service_unavailable' } } }
  expect(await auth.ask('GET', '/auth/me', { as })).toMatchObject(unavailable)
  const failed = await signIn()
  ledgerSays.down = false
  expect(failed.answer).toMatchObject(unavailable)
  expect(failed.answer.headers.get('set-cookie')).toBeNull()
  const left = `select 1 from sessions s join users u on u.id = s.user_id where u.wallet = '${failed.wallet.address}'`
  expect(await auth.sql(left)).toEqual([])
}, 20_000)

test('a wallet’s tokens are asked for once in a while, and the last known balance outlives an outage', async () => {
  const clock = { now: 0 }
  const balances = tokenBalances(await auth.as('auth'), () => clock.now)
  const wallet = newWallet().address
  const before = chainSays.asked
  expect(await Promise.all(Array.from({ length: 50 }, () => balances.of(wallet)))).toEqual(new Array(50).fill(1.5))
  expect(await balances.of(wallet)).toBe(1.5)
  expect(chainSays.asked - before).toBe(1)
  clock.now += 60_000
  chainSays.state = 'unavailable'
  expect(await balances.of(wallet)).toBe(1.5)
  chainSays.state = 'ok'
})

test('base units become the number that a person reads', () => {
  expect(uiUnits(0n, 6)).toBe(0)
  expect(uiUnits(1n, 6)).toBe(0.000001)
  expect(uiUnits(1_500_000n, 6)).toBe(1.5)
  expect(uiUnits(12n, 0)).toBe(12)
  expect(uiUnits(18_446_744_073_709_551_615n, 9)).toBe(18_446_744_073.709553)
})
