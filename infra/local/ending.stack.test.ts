import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { homeOf } from '@tollgate/postgres'
import { commandOf, descendantsOf } from '@tollgate/process'
import { eventually, freePort, nats, postgres, startStack } from '@tollgate/testing'

const localDir = mkdtempSync(join(tmpdir(), 'tollgate-ending-'))
const port = String(freePort())
afterAll(() => {
  for (const path of [localDir, homeOf(localDir).folder]) rmSync(path, { recursive: true, force: true })
})

const gone = (pids: number[]) => () => pids.every(pid => commandOf(pid) === undefined)

test('SIGTERM ends every process and takes gateway.json away', async () => {
  const stack = await startStack({ localDir, env: { PORT: port } })
  const pids = descendantsOf(stack.pid)
  expect(pids.length).toBeGreaterThan(12)
  const started = performance.now()
  await stack.stop()
  expect(gone(pids)()).toBe(true)
  expect(performance.now() - started).toBeLessThan(10_000)
  expect(existsSync(join(localDir, 'gateway.json'))).toBe(false)
}, 60_000)

test('kill -9 of the supervisor leaves no process, and the next start has the same ports and a true gateway.json', async () => {
  const stack = await startStack({ localDir, env: { PORT: port } })
  const before = stack.gateway()
  const pids = descendantsOf(stack.pid)
  process.kill(stack.pid, 'SIGKILL')
  await eventually(gone(pids), { withinMs: 15_000 })
  expect(existsSync(join(localDir, 'gateway.json'))).toBe(true)

  await using next = await startStack({ localDir, env: { PORT: port } })
  const after = next.gateway()
  expect({ ...after, services: null }).toEqual({ ...before, services: null })
  for (const replica of Object.values(after.services).flat()) expect(pids).not.toContain(replica.pid)
}, 120_000)

test('a start right after kill -9 does not trip over what is still ending, or hangs', async () => {
  const stack = await startStack({ localDir, env: { PORT: port } })
  const hanging = stack.gateway().services.router[0]?.pid ?? 0
  process.kill(hanging, 'SIGSTOP')
  process.kill(stack.pid, 'SIGKILL')
  await eventually(() => commandOf(stack.pid) === undefined)
  await using next = await startStack({ localDir, env: { PORT: port } })
  expect(commandOf(hanging)).toBeUndefined()
  expect((await fetch(`${next.gateway().router}/healthz`)).status).toBe(200)
}, 120_000)

test('two stacks run side by side', async () => {
  const [one, other] = await Promise.all([startStack(), startStack()])
  await using _one = one
  await using _other = other
  const urls = [one, other].flatMap(stack => {
    const { router, nats, postgres, upstream, chain } = stack.gateway()
    return [router, nats, postgres, upstream, chain.rpc]
  })
  expect(new Set(urls).size).toBe(10)
}, 120_000)

test("Postgres and NATS of one's own take the place of the embedded ones", async () => {
  await using server = await nats()
  await using database = await postgres({ ownCluster: true, services: ['keys'] })
  const env = { NATS_URL: server.url, NATS_SECRET: server.secret, DATABASE_URL: database.adminUrl }
  await using stack = await startStack({ env })
  expect(stack.gateway().postgres).toBe(database.adminUrl)
  expect(new URL(stack.gateway().nats).host).toBe(new URL(server.url).host)
  expect((await fetch(`${stack.gateway().router}/readyz`)).status).toBe(200)
}, 60_000)
