import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type ServiceName, serviceNames } from '@tollgate/contracts'
import { commandOf } from '@tollgate/process'
import { eventually, startStack, type TestStack } from '@tollgate/testing'

/** From the death of a process to its successor. How long that takes to be ready is a matter of the machine. */
const RESTARTED_WITHIN_MS = 1_000
const READY_WITHIN_MS = 10_000

let stack: TestStack
beforeAll(async () => {
  stack = await startStack({ scale: { ledger: 2 } })
}, 60_000)
afterAll(() => stack.stop(), 60_000)

/** Health ports are no business of callers, so gateway.json does not have all; the stack remembers them here. */
function portOf(replica: string): number {
  const { router } = stack.gateway()
  if (replica === 'router-1') return Number(new URL(router).port)
  return JSON.parse(readFileSync(join(stack.localDir, 'ports.json'), 'utf8'))[replica]
}

async function isReady(replica: string): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${portOf(replica)}/readyz`)).ok
}

const replicas = serviceNames.flatMap(name => (name === 'ledger' ? ['ledger-1', 'ledger-2'] : [`${name}-1`]))
const allReady = () => Promise.all(replicas.map(isReady)).then(ready => ready.every(Boolean))

test('gateway.json says where everything is, and only its owner reads it', () => {
  const gateway = stack.gateway()
  const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)
  const pid = expect.any(Number)
  expect(gateway).toEqual({
    router: expect.stringMatching(/^http:\/\/localhost:\d+$/),
    appOrigin: 'http://localhost:3000',
    nats: expect.stringMatching(/^nats:\/\/operator:\w+@127\.0\.0\.1:\d+$/),
    postgres: expect.stringMatching(/^postgres:\/\/postgres:\w+@127\.0\.0\.1:\d+\/tollgate$/),
    upstream: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    chain: {
      rpc: url,
      mint: expect.any(String),
      decimals: 6,
      treasury: expect.any(String),
      payer: { address: expect.any(String), secretKey: expect.any(String) },
    },
    services: {
      router: [{ pid, url: gateway.router }],
      auth: [{ pid, url }],
      keys: [{ pid, url }],
      billing: [{ pid, url }],
      'metering-proxy': [{ pid, url }],
      ledger: [
        { pid, url: null },
        { pid, url: null },
      ],
      'chain-watcher': [{ pid, url: null }],
    },
  })
  expect(statSync(join(stack.localDir, 'gateway.json')).mode & 0o777).toBe(0o600)
})

test('the router answers on both loopback addresses', async () => {
  const { port } = new URL(stack.gateway().router)
  for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
    expect((await fetch(`http://${host}:${port}/healthz`)).status).toBe(200)
  }
})

test.each([...serviceNames])(
  'a killed %s is started again within a second, on its port, and gateway.json has its new pid',
  async (name: ServiceName) => {
    const replica = `${name}-1`
    const killed = stack.killService(name)
    const now = () => stack.gateway().services[name][0]?.pid ?? killed
    await eventually(() => now() !== killed, { withinMs: RESTARTED_WITHIN_MS })
    expect(commandOf(now())).toContain(`services/${name}/index.ts`)
    await eventually(() => isReady(replica), { withinMs: READY_WITHIN_MS })
  },
  30_000,
)

test.each(['nats', 'postgres'] as const)(
  'a killed %s comes back and every service is ready again without a restart of its own',
  async name => {
    const before = stack.gateway().services
    stack.killServer(name)
    await eventually(async () => !(await allReady()), { withinMs: READY_WITHIN_MS })
    await eventually(allReady, { withinMs: 30_000 })
    expect(stack.gateway().services).toEqual(before)
  },
  60_000,
)

test('a second stack in the same folder is refused and harms nothing', async () => {
  const before = stack.gateway()
  await expect(startStack({ localDir: stack.localDir })).rejects.toThrow('A stack already runs in')
  expect(stack.gateway()).toEqual(before)
  await eventually(allReady, { withinMs: READY_WITHIN_MS })
}, 30_000)
