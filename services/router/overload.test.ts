import { expect, test } from 'bun:test'
import { eventually } from '@tollgate/testing'
import { startWorld, type World } from './test/world.ts'

const LIMITS = '{"chat":{"count":100000},"nonce":{"count":100000}}'
const chat = (world: World, bearer: string) =>
  fetch(`${world.router.url}/v1/chat/completions`, { method: 'POST', headers: { authorization: bearer }, body: '{}' })

async function loaded(env: Record<string, string>, asked: number, held: number) {
  await using world = await startWorld({ env: { LIMITS, ...env } })
  const { bearer } = world.key()
  const { promise: release, resolve } = Promise.withResolvers<void>()
  world.backend.answer(async () => {
    await release
    return Response.json({ ok: true })
  })
  const answers = Array.from({ length: asked }, () => chat(world, bearer))
  await eventually(() => world.backend.seen.length === held)
  const refused = await chat(world, bearer)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  const other = await fetch(`${world.router.url}/auth/nonce`, {
    method: 'POST',
    body: '{}',
    signal: AbortSignal.timeout(500),
  }).catch(() => null)
  resolve()
  const statuses = (await Promise.all(answers)).map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array<number>(held).fill(200), ...Array<number>(asked - held).fill(503)])
  await eventually(async () => (await chat(world, bearer)).status === 200)
  return other
}

test('a service that owes as many answers as it may is not asked for more, and the others go on', async () => {
  // Held by the backend that all services share here, but let through by the router: no 503.
  expect(await loaded({ OUTSTANDING_MAX: '10' }, 30, 10)).toBeNull()
}, 20_000)

test('beyond what fetch sends at once, nothing waits in a queue that nobody sees', async () => {
  expect((await loaded({ BUN_CONFIG_MAX_HTTP_REQUESTS: '20' }, 50, 20))?.status).toBe(503)
}, 20_000)
