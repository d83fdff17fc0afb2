import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { homeOf } from '@tollgate/postgres'
import { freePort, startStack } from '@tollgate/testing'
import { request } from '../e2e/client/api.ts'
import type { Gateway } from '../e2e/client/gateway.ts'
import { topUp } from '../e2e/client/pay.ts'
import { createKey, signIn } from '../e2e/client/sign-in.ts'

const localDir = mkdtempSync(join(tmpdir(), 'tollgate-state-'))
const env = { PORT: String(freePort()) }
afterAll(() => {
  for (const path of [localDir, homeOf(localDir).folder]) rmSync(path, { recursive: true, force: true })
})

/** As a client reads it: the file, not our types of it. */
const gatewayOf = (): Gateway => JSON.parse(readFileSync(join(localDir, 'gateway.json'), 'utf8'))

test('balances, keys, sessions and the chain survive a restart; --fresh takes them all away', async () => {
  const first = await startStack({ localDir, env })
  const signedIn = await signIn(gatewayOf())
  const { cookie } = signedIn
  await topUp(gatewayOf(), signedIn, '10')
  const { key } = await createKey(gatewayOf(), cookie)
  const { chain } = gatewayOf()
  await first.stop()

  const second = await startStack({ localDir, env })
  const gateway = gatewayOf()
  expect(gateway.chain).toEqual(chain)
  const balance = { creditsMicro: 10_000_000, heldMicro: 0, availableMicro: 10_000_000, creditsUsd: 10 }
  expect(await request(gateway, { key }, 'GET', '/billing/balance')).toMatchObject({ status: 200, body: balance })
  expect(await request(gateway, { cookie }, 'GET', '/billing/balance')).toMatchObject({ status: 200, body: balance })
  expect(await request(gateway, { cookie }, 'GET', '/keys')).toMatchObject({
    body: { data: [{ last4: key.slice(-4) }] },
  })
  await second.stop()

  await using _third = await startStack({ localDir, env, fresh: true })
  const fresh = gatewayOf()
  expect(fresh.chain.mint).not.toBe(chain.mint)
  expect((await request(fresh, { key }, 'GET', '/billing/balance')).status).toBe(401)
  expect((await request(fresh, { cookie }, 'GET', '/billing/balance')).status).toBe(401)
}, 180_000)
