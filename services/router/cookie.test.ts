import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { newSessionToken } from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { raw } from './test/raw.ts'
import { startWorld, type World } from './test/world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
}, 30_000)
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => world.backend.reset())

/** The status of `GET /keys` with these Cookie headers. */
async function statusOf(...cookies: string[]): Promise<number> {
  const lines = cookies.map(cookie => `Cookie: ${cookie}\r\n`).join('')
  const request = `GET /keys HTTP/1.1\r\nHost: gate.example\r\nConnection: close\r\n${lines}\r\n`
  return (await raw(world.router.port, request)).status
}

test('the session is found among a thousand cookies and in a header of its own', async () => {
  const { cookie } = world.session()
  const others = Array.from({ length: 1_000 }, (_, n) => `c${n}=1`).join('; ')
  expect(await statusOf(cookie)).toBe(200)
  expect(await statusOf(`${others}; ${cookie}`)).toBe(200)
  expect(await statusOf('theme=dark', cookie)).toBe(200)
})

test('a second cookie of the name, which a parent domain can plant, leaves nobody signed in', async () => {
  const { cookie } = world.session()
  const planted = `svc_session=${newSessionToken()}`
  for (const cookies of [
    [`${cookie}; ${cookie}`],
    [`${cookie}; ${planted}`],
    [`${planted}; ${cookie}`],
    [cookie, planted],
    [planted, cookie],
    [cookie, 'svc_session='],
  ]) {
    expect({ cookies, status: await statusOf(...cookies) }).toEqual({ cookies, status: 401 })
  }
  expect(world.lookups.sessions).not.toContain(planted)
  expect(world.backend.seen).toEqual([])
})

test('a cookie that is no session is 401: JSON, a prefixed or another name, another case, 8 KB', async () => {
  const { cookie, token } = world.session()
  const odd = [
    'svc_session={"a":1}',
    `svc_session=${JSON.stringify({ token })}`,
    `svc_session="${token}"`,
    `svc_session=${encodeURIComponent(`${token} `)}`,
    `__Host-${cookie}`,
    `__Secure-${cookie}`,
    `$Version=1; $${cookie}`,
    `SVC_SESSION=${token}`,
    `svc_session = `,
    `svc_session=${'a'.repeat(8_192)}`,
    `svc_session=${token}${'a'.repeat(8_192)}`,
    `svc_session=${token}é`,
    `a="; ${cookie.slice(0, -1)}`,
  ]
  for (const value of odd) expect({ value, status: await statusOf(value) }).toEqual({ value, status: 401 })
  expect(world.backend.seen).toEqual([])
})

test('2,000 cookies are more than the parser takes', async () => {
  const { cookie } = world.session()
  expect(await statusOf(`${Array.from({ length: 2_000 }, (_, n) => `c${n}=1`).join('; ')}; ${cookie}`)).toBe(431)
})

test('an expired session, and one that was replaced or ended, is 401', async () => {
  expect(await statusOf(world.session({ expiresAt: Date.now() - 1 }).cookie)).toBe(401)
  const ended = world.session()
  expect(await statusOf(ended.cookie)).toBe(200)
  world.endSession(ended)
  await eventually(async () => (await statusOf(ended.cookie)) === 401, { withinMs: 1_000, everyMs: 5 })
})
