import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { raw } from './test/raw.ts'
import { startWorld, type World } from './test/world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
}, 30_000)
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => {
  world.backend.reset()
  world.lookups.keys.length = 0
})

/** Sends the header lines as the bytes that they are. */
async function ask(lines: string | Buffer, target = '/keys'): Promise<{ status: number; code: string | undefined }> {
  const answer = await raw(
    world.router.port,
    Buffer.concat([
      Buffer.from(`GET ${target} HTTP/1.1\r\nHost: gate.example\r\nConnection: close\r\n`),
      Buffer.from(lines),
      Buffer.from('\r\n'),
    ]),
  )
  const body = answer.body === '' ? {} : (JSON.parse(answer.body) as { error?: { code: string } })
  return { status: answer.status, code: body.error?.code }
}

const authorization = (value: string) => `Authorization: ${value}\r\n`
const unauthorized = { status: 401, code: 'unauthorized' }

test('a key is one word after one space, with the scheme in any case', async () => {
  const { secret } = world.key()
  for (const value of [`Bearer ${secret}`, `bearer ${secret}`, `BEARER ${secret}`, ` \t Bearer ${secret} \t`]) {
    expect({ value, ...(await ask(authorization(value))) }).toMatchObject({ value, status: 200 })
  }
})

test('written in any other way it is 401, and nothing is looked up', async () => {
  const { secret } = world.key()
  const last = secret.at(-1) ?? ''
  const odd = [
    `Bearer  ${secret}`,
    `Bearer\t${secret}`,
    `Bearer${secret}`,
    `Bearer ${secret} ${secret}`,
    `Bearer ${secret},`,
    `Bearer "${secret}"`,
    `Bearer: ${secret}`,
    `Token ${secret}`,
    secret,
    // Another letter at the end does not fit the checksum.
    `Bearer ${secret.slice(0, -1)}${last === 'x' ? 'y' : 'x'}`,
    `Bearer ${secret.toUpperCase()}`,
    `Bearer ${secret.toLowerCase()}`,
    `Bearer SVC_LIVE_${secret.slice('svc_live_'.length)}`,
    // A Cyrillic е, full-width digits, a zero-width and a no-break space, a byte order mark.
    `Bearer ${secret.replace('e', 'е')}`,
    `Bearer ${secret.slice(0, -1)}１`,
    `Bearer ${secret}\u200b`,
    `Bearer\u00a0${secret}`,
    `Bearer ${secret}\u00a0`,
    `\ufeffBearer ${secret}`,
    `Bearer ${'a'.repeat(15_000)}`,
  ]
  for (const value of odd) expect({ value, ...(await ask(authorization(value))) }).toEqual({ value, ...unauthorized })
  for (const value of [`Bearer\u00a0${secret}`, `Bearer ${secret}\u00a0`, `\u00a0Bearer ${secret}`]) {
    expect({ value, ...(await ask(Buffer.from(authorization(value), 'latin1'))) }).toEqual({ value, ...unauthorized })
  }
  expect(world.lookups.keys).toEqual([])
  expect(world.backend.seen).toEqual([])
})

test('of two Authorization headers none counts, whichever of them is good', async () => {
  const { bearer } = world.key()
  const pairs = [
    [bearer, bearer],
    [bearer, 'Bearer svc_live_bad'],
    ['Bearer svc_live_bad', bearer],
    [bearer, ''],
  ]
  for (const pair of pairs) {
    expect({ pair, ...(await ask(pair.map(authorization).join(''))) }).toEqual({ pair, ...unauthorized })
  }
})

test('a key in the query, or in a header of another name, is no credential', async () => {
  const { secret } = world.key()
  expect(await ask('', `/keys?api_key=${secret}&key=${secret}&access_token=${secret}&token=${secret}`)).toEqual(
    unauthorized,
  )
  for (const name of ['X-Api-Key', 'Api-Key', 'Proxy-Authorization', 'X-Authorization']) {
    expect({ name, ...(await ask(`${name}: Bearer ${secret}\r\n`)) }).toEqual({ name, ...unauthorized })
  }
})

test('a token of a megabyte, and control characters in one, end at the parser', async () => {
  const { secret } = world.key()
  expect((await ask(authorization(`Bearer ${'a'.repeat(1_000_000)}`))).status).toBe(431)
  for (const control of ['\0', '\r', '\f', '\v', '\x7f']) {
    expect([400, 401], JSON.stringify(control)).toContain(
      (await ask(authorization(`Bearer ${secret}${control}`))).status,
    )
  }
  expect(world.backend.seen).toEqual([])
})
