import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hashSession, newId, resolveSession, type SessionList, sessionEnded, type WireOf } from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { type AuthUnderTest, cookieOf, newWallet, serveBalances, startAuth, type Wallet } from './auth.test-helpers.ts'
import { MAX_SESSIONS } from './session.ts'

const DAY_MS = 86_400_000
const SECONDS = 20_000

let auth: AuthUnderTest
let router: Awaited<ReturnType<AuthUnderTest['as']>>
/** Sessions that routers were told to forget. */
const ended: string[] = []
beforeAll(async () => {
  auth = await startAuth({ COOKIE_PARTITIONED: '1' })
  await serveBalances(auth)
  router = await auth.as('router')
  router.listen(sessionEnded.subject, sessionEnded.payload, ({ sessionHash }) => ended.push(sessionHash))
}, 30_000)
afterAll(() => auth.stop())

const resolve = (hash: string) => router.call(resolveSession, { sessionHash: hash })
const unknown = { status: 'unknown' } as const

/** Signs in, and says who that is as the router would. */
async function signedIn(wallet: Wallet = newWallet()) {
  const hash = hashSession(cookieOf(await auth.verify(await auth.signed(wallet))).token)
  const session = await resolve(hash)
  if (session.status !== 'active') throw new Error('the sign-in opened no session')
  return {
    hash,
    expiresAt: session.expiresAt,
    as: { acct: session.account, usr: session.user, session: session.session },
  }
}

/** Moves a session's past: as if it had been used and opened that long ago. */
const age = (hash: string, usedAgoMs: number, openedAgoMs = usedAgoMs) =>
  auth.sql(`update sessions set
    last_used_at = now() - interval '${usedAgoMs} ms',
    expires_at = least(now() - interval '${usedAgoMs} ms' + interval '7 days', now() - interval '${openedAgoMs} ms' + interval '30 days'),
    ends_at = now() - interval '${openedAgoMs} ms' + interval '30 days'
    where secret_hash = '${hash}'`)

test('a session lasts seven days from its last use', async () => {
  const { hash, expiresAt } = await signedIn()
  expect(Math.abs(expiresAt - Date.now() - 7 * DAY_MS)).toBeLessThan(SECONDS)
  await age(hash, 6 * DAY_MS)
  const used = await resolve(hash)
  if (used.status !== 'active') throw new Error('a session in use must not end')
  expect(Math.abs(used.expiresAt - Date.now() - 7 * DAY_MS)).toBeLessThan(SECONDS)
  await age(hash, 7 * DAY_MS + 1)
  expect(await resolve(hash)).toEqual(unknown)
})

test('a session ends thirty days after its sign-in, however much it is used', async () => {
  const { hash } = await signedIn()
  await age(hash, DAY_MS, 29 * DAY_MS)
  const last = await resolve(hash)
  if (last.status !== 'active') throw new Error('the thirtieth day is not over')
  expect(Math.abs(last.expiresAt - Date.now() - DAY_MS)).toBeLessThan(SECONDS)
  await age(hash, 1_000, 30 * DAY_MS)
  expect(await resolve(hash)).toEqual(unknown)
})

test('a use within a minute of the last writes nothing', async () => {
  const { hash } = await signedIn()
  const version = async () => (await auth.sql(`select xmin::text from sessions where secret_hash = '${hash}'`))[0]?.xmin
  const before = await version()
  await Promise.all(Array.from({ length: 20 }, () => resolve(hash)))
  expect(await version()).toBe(before)
  await age(hash, 61_000)
  const aged = await version()
  expect(await resolve(hash)).toMatchObject({ status: 'active' })
  expect(await version()).not.toBe(aged)
})

test('logout ends the session before it answers, tells the routers, and clears the cookie', async () => {
  const { hash, as } = await signedIn()
  const answer = await auth.ask('POST', '/auth/logout', { as })
  expect(answer).toMatchObject({ status: 200, body: { ok: true } })
  expect(await resolve(hash)).toEqual(unknown)
  const { name, token, attributes } = cookieOf(answer)
  expect({ name, token }).toEqual({ name: 'svc_session', token: '' })
  expect(attributes).toEqual(['HttpOnly', 'Max-Age=0', 'Partitioned', 'Path=/', 'SameSite=None', 'Secure'])
  await eventually(() => ended.includes(hash))
})

test('logout without a session answers the same, and one that is repeated too', async () => {
  const { as } = await signedIn()
  for (const who of [undefined, as, as]) {
    const answer = await auth.ask('POST', '/auth/logout', who ? { as: who } : {})
    expect(answer).toMatchObject({ status: 200, body: { ok: true } })
    expect(cookieOf(answer).token).toBe('')
  }
})

test('sessions are listed newest use first, and the present one is marked', async () => {
  const wallet = newWallet()
  const [old, present] = [await signedIn(wallet), await signedIn(wallet)]
  await age(old.hash, 3_600_000)
  const { body } = await auth.ask<WireOf<typeof SessionList>>('GET', '/auth/sessions', { as: present.as })
  expect(body.data.map(({ id, current }) => ({ id, current }))).toEqual([
    { id: present.as.session, current: true },
    { id: old.as.session, current: false },
  ])
  expect(Math.abs((body.data[1]?.lastUsedAt ?? 0) - Date.now() + 3_600_000)).toBeLessThan(SECONDS)
})

test('one session is ended by its user; another’s is not there', async () => {
  const wallet = newWallet()
  const [one, other, stranger] = [await signedIn(wallet), await signedIn(wallet), await signedIn()]
  const end = (id: string, as: typeof one.as) => auth.ask('DELETE', `/auth/sessions/${id}`, { as })
  for (const id of [one.as.session, newId('session'), 'nonsense', '%00', "'%20or%201=1"]) {
    expect(await end(id, stranger.as)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  }
  expect(await resolve(one.hash)).toMatchObject({ status: 'active' })
  const answer = await end(one.as.session, other.as)
  expect(answer).toMatchObject({ status: 200, body: { ok: true } })
  expect(answer.headers.get('set-cookie')).toBeNull()
  expect(await resolve(one.hash)).toEqual(unknown)
  expect(await resolve(other.hash)).toMatchObject({ status: 'active' })
  await eventually(() => ended.includes(one.hash))
  expect(cookieOf(await end(other.as.session, other.as)).token).toBe('')
})

test('logout everywhere ends all of a user’s sessions and nobody else’s', async () => {
  const wallet = newWallet()
  const [one, other, stranger] = [await signedIn(wallet), await signedIn(wallet), await signedIn()]
  expect(await auth.ask('DELETE', '/auth/sessions', { as: one.as })).toMatchObject({ status: 200, body: { ok: true } })
  expect(await Promise.all([resolve(one.hash), resolve(other.hash)])).toEqual([unknown, unknown])
  expect(await resolve(stranger.hash)).toMatchObject({ status: 'active' })
  await eventually(() => ended.includes(one.hash) && ended.includes(other.hash))
})

test('an end that the routers could not be told of is no success; repeated, it is told', async () => {
  const wallet = newWallet()
  const [one, other] = [await signedIn(wallet), await signedIn(wallet)]
  await auth.nats.kill9()
  const unavailable = { status: 503, body: { error: { code: 'service_unavailable' } } }
  expect(await auth.ask('DELETE', '/auth/sessions', { as: one.as })).toMatchObject(unavailable)
  await auth.nats.restart()
  // A router that was away itself forgets all sessions when it is back; this one listens.
  await eventually(() => router.connected)
  const again = async () => (await auth.ask('DELETE', '/auth/sessions', { as: one.as })).status === 200
  await eventually(again, { withinMs: 10_000 })
  await eventually(() => ended.includes(one.hash) && ended.includes(other.hash))
  expect(await resolve(other.hash)).toEqual(unknown)
}, 40_000)

test('a user has a bounded number of sessions: a sign-in ends the one unused for longest', async () => {
  const wallet = newWallet()
  const first = await signedIn(wallet)
  const { usr } = first.as
  await auth.sql(`insert into sessions (id, user_id, secret_hash, expires_at, ends_at, last_used_at)
    select 'ses_' || md5(n::text || '${usr}'), '${usr}', 'filler ' || md5(n::text || '${usr}'), now() + interval '1 day', now() + interval '1 day', now()
    from generate_series(1, ${MAX_SESSIONS - 1}) n`)
  await age(first.hash, 3_600_000)
  const next = await signedIn(wallet)
  expect(await resolve(first.hash)).toEqual(unknown)
  await eventually(() => ended.includes(first.hash))
  const live = `select 1 from sessions where user_id = '${usr}' and ended_at is null and expires_at > now()`
  expect(await auth.sql(live)).toHaveLength(MAX_SESSIONS)
  await age(next.hash, 31 * DAY_MS, 31 * DAY_MS)
  await signedIn(wallet)
  expect(await auth.sql(`select 1 from sessions where secret_hash = '${next.hash}'`)).toEqual([])
})

test('without an account the session endpoints are 401', async () => {
  for (const [method, path] of [
    ['GET', '/auth/me'],
    ['GET', '/auth/sessions'],
    ['DELETE', '/auth/sessions'],
    ['DELETE', `/auth/sessions/${newId('session')}`],
  ] as const) {
    expect(await auth.ask(method, path)).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } })
  }
})
