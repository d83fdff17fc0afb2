import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { newKeySecret, newSessionToken, type Route, routes } from '@tollgate/contracts'
import { readIdentity } from '@tollgate/identity'
import { eventually } from '@tollgate/testing'
import { IDENTITY_SECRET } from './test/router-process.ts'
import { APP_ORIGIN, startWorld, type World } from './test/world.ts'

const raised = JSON.stringify(
  Object.fromEntries(['chat', 'nonce', 'keys', 'topup', 'verify'].map(name => [name, { count: 100_000 }])),
)
let world: World

beforeAll(async () => {
  world = await startWorld({ routers: 2, env: { LIMITS: raised } })
}, 30_000)
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => {
  world.backend.reset()
  world.lookups.keys.length = 0
  world.lookups.sessions.length = 0
})

async function call(
  { method, path }: Route,
  headers: Record<string, string>,
  router = world.router,
): Promise<{ status: number; code: string | undefined }> {
  const answer = await fetch(router.url + path.replace(':id', 'some_id'), {
    method,
    headers: { 'content-type': 'application/json', ...(headers.cookie && { origin: APP_ORIGIN }), ...headers },
    ...(method !== 'GET' && { body: '{}' }),
  })
  const body = (await answer.json()) as { error?: { code: string } }
  return { status: answer.status, code: body.error?.code }
}

const unauthorized = { status: 401, code: 'unauthorized' }
const protectedRoutes = routes.filter(({ auth }) => auth === 'required')
const name = ({ method, path }: Route) => `${method} ${path}`

test.each(protectedRoutes.map(route => [name(route), route] as const))(
  '%s: no credential, a bad, unknown, expired or revoked one is 401',
  async (_, route) => {
    const expiredKey = world.key({ expiresAt: Date.now() - 1 })
    const expiredSession = world.session({ expiresAt: Date.now() - 1 })
    const revoked = world.key()
    const ended = world.session()
    expect((await call(route, { authorization: revoked.bearer })).status).toBe(200)
    expect((await call(route, { cookie: ended.cookie })).status).toBe(200)
    world.revoke(revoked)
    world.endSession(ended)
    // Far less than an answer is remembered: the push did it.
    const atOnce = { withinMs: 1_000, everyMs: 5 }
    await eventually(async () => (await call(route, { authorization: revoked.bearer })).status === 401, atOnce)
    await eventually(async () => (await call(route, { cookie: ended.cookie })).status === 401, atOnce)
    world.backend.seen.length = 0

    const refused: Record<string, string>[] = [
      {},
      { authorization: revoked.bearer },
      { cookie: ended.cookie },
      { authorization: expiredKey.bearer },
      { cookie: expiredSession.cookie },
      { authorization: `Bearer ${newKeySecret(randomBytes(32))}` },
      { cookie: `svc_session=${newSessionToken()}` },
      { authorization: 'Bearer svc_live_typo' },
      { authorization: 'Basic dXNlcjpwYXNz' },
      { authorization: 'Bearer svc_live_typo', cookie: world.session().cookie },
      { cookie: 'svc_session=x' },
    ]
    for (const headers of refused)
      expect({ headers, ...(await call(route, headers)) }).toEqual({ headers, ...unauthorized })
    expect(world.backend.seen).toEqual([])
  },
)

test.each(routes.map(route => [name(route), route] as const))(
  '%s: the service learns who calls, signed for it and nobody else',
  async (_, route) => {
    const key = world.key({ models: ['a', 'b'] })
    const session = world.session()
    await call(route, { authorization: key.bearer, cookie: session.cookie })
    await call(route, { cookie: session.cookie })
    const read = (index: number, audience: string) =>
      readIdentity(
        world.backend.seen[index]?.headers.get('x-tollgate-identity') ?? null,
        audience,
        { secrets: [IDENTITY_SECRET] },
        Date.now(),
      )
    const nobody = { acct: null, usr: null, key: null, session: null, models: null }
    const byKey = { acct: key.account, usr: key.user, key: key.key, session: null, models: ['a', 'b'] }
    const bySession = { ...nobody, acct: session.account, usr: session.user, session: session.session }
    expect(read(0, route.service)).toMatchObject(route.auth === 'none' ? nobody : byKey)
    expect(read(1, route.service)).toMatchObject(route.auth === 'none' ? nobody : bySession)
    expect(read(0, 'another')).toBeNull()
    expect(read(0, route.service)?.rid).toBe(world.backend.seen[0]?.headers.get('x-request-id') as `req_${string}`)
  },
)

test('where a credential is optional, a bad one is nobody', async () => {
  for (const route of routes.filter(({ auth }) => auth === 'optional')) {
    for (const headers of [
      {},
      { authorization: 'Bearer svc_live_bad', cookie: world.session().cookie },
      { cookie: 'svc_session=x' },
    ]) {
      expect((await call(route, headers)).status, name(route)).toBe(200)
    }
  }
  const identities = world.backend.seen.map(({ headers }) => headers.get('x-tollgate-identity') ?? '')
  expect(identities.every(header => Buffer.from(header, 'base64url').toString().includes('"acct":null'))).toBe(true)
})

test('a typo costs no look-up, a key many times used costs one, an unknown one is asked again soon', async () => {
  const [route] = protectedRoutes
  if (!route) throw new Error('there are protected routes')
  const key = world.key()
  const typo = `${key.bearer.slice(0, -1)}${key.bearer.endsWith('x') ? 'y' : 'x'}`
  await Promise.all(Array.from({ length: 50 }, () => call(route, { authorization: typo })))
  expect(world.lookups.keys).toHaveLength(0)
  await Promise.all(Array.from({ length: 50 }, () => call(route, { authorization: key.bearer })))
  await call(route, { authorization: key.bearer })
  expect(world.lookups.keys).toHaveLength(1)
})

test('a change that goes through a router is known there at once, without the push', async () => {
  const owner = world.session()
  const key = world.key()
  const list = protectedRoutes.find(route => name(route) === 'GET /keys')
  if (!list) throw new Error('a known route')
  expect((await call(list, { authorization: key.bearer })).status).toBe(200)
  world.revoke(key, { push: false })
  expect((await call(list, { authorization: key.bearer })).status).toBe(200)
  await fetch(`${world.router.url}/keys/${key.key}`, {
    method: 'DELETE',
    headers: { cookie: owner.cookie, origin: APP_ORIGIN },
  })
  expect(await call(list, { authorization: key.bearer })).toEqual(unauthorized)
})

test('a revocation reaches every router at once', async () => {
  const key = world.key()
  const [route] = protectedRoutes
  if (!route) throw new Error('there are protected routes')
  for (const router of world.routers)
    expect((await call(route, { authorization: key.bearer }, router)).status).toBe(200)
  world.revoke(key)
  const revokedAt = performance.now()
  for (const router of world.routers) {
    await eventually(async () => (await call(route, { authorization: key.bearer }, router)).status === 401, {
      everyMs: 1,
    })
  }
  expect(performance.now() - revokedAt).toBeLessThan(500)
})

test('a push that was lost is made up for within the time that an answer is remembered', async () => {
  const key = world.key()
  const [route] = protectedRoutes
  if (!route) throw new Error('there are protected routes')
  expect((await call(route, { authorization: key.bearer })).status).toBe(200)
  world.revoke(key, { push: false })
  const asked = { withinMs: 5_500, everyMs: 100 }
  await eventually(async () => (await call(route, { authorization: key.bearer })).status === 401, asked)
}, 10_000)

test('keys that were used are reported within seconds, each once a report', async () => {
  const key = world.key()
  const [route] = protectedRoutes
  if (!route) throw new Error('there are protected routes')
  await Promise.all(Array.from({ length: 20 }, () => call(route, { authorization: key.bearer })))
  await eventually(() => world.used.includes(key.key), { withinMs: 6_000 })
  expect(world.used.filter(used => used === key.key)).toHaveLength(1)
}, 10_000)
