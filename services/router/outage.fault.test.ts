import { expect, test } from 'bun:test'
import { eventually } from '@tollgate/testing'
import { startWorld, type World } from './test/world.ts'

const get = (world: World, path: string, bearer: string) =>
  fetch(world.router.url + path, { headers: { authorization: bearer } })
const code = async (answer: Response) => ((await answer.json()) as { error: { code: string } }).error.code

test('while NATS is away known keys work for a moment, unknown ones are 503 and never 401, and nothing needs a restart', async () => {
  await using world = await startWorld()
  const known = world.key()
  const unknown = world.key()
  expect((await get(world, '/keys', known.bearer)).status).toBe(200)
  await world.nats.kill9()
  expect((await get(world, '/keys', known.bearer)).status).toBe(200)
  const refused = await get(world, '/keys', unknown.bearer)
  expect([refused.status, refused.headers.get('retry-after'), await code(refused)]).toEqual([
    503,
    '1',
    'service_unavailable',
  ])
  expect((await fetch(`${world.router.url}/readyz`)).status).toBe(503)
  // Logging out must not look done while the session can't be found.
  const logout = await fetch(`${world.router.url}/auth/logout`, {
    method: 'POST',
    headers: { cookie: world.session().cookie, origin: 'https://app.example' },
  })
  expect(logout.status).toBe(503)

  await world.nats.restart()
  await eventually(async () => (await get(world, '/keys', unknown.bearer)).status === 200, { withinMs: 5_000 })
  expect((await fetch(`${world.router.url}/readyz`)).status).toBe(200)
}, 30_000)

test('a router that was cut off forgets what it knew: a revocation it did not hear of counts at the reconnect', async () => {
  await using world = await startWorld()
  const key = world.key()
  expect((await get(world, '/keys', key.bearer)).status).toBe(200)
  await world.nats.kill9()
  world.revoke(key, { push: false })
  const killedAt = performance.now()
  await world.nats.restart()
  await eventually(async () => (await get(world, '/keys', key.bearer)).status === 401, { withinMs: 4_500 })
  expect(performance.now() - killedAt).toBeLessThan(4_500)
}, 30_000)
