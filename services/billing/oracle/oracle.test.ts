import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLog } from '@tollgate/service'
import { coingeckoSource } from './coingecko.ts'
import { jupiterSource } from './jupiter.ts'
import { createOracle } from './oracle.ts'
import { pythSource } from './pyth.ts'
import type { PriceSource, Reading } from './reading.ts'
import { judge, type PriceRules } from './rules.ts'

const ONE = 10n ** 18n
const NOW = 1_800_000_000_000
const rules: PriceRules = {
  quorum: 2,
  maxAgeMs: 60_000,
  maxConfidenceBps: 100n,
  minLiquidityUsd: 50_000n,
  maxSpreadBps: 250n,
  maxJumpBps: 1_000n,
  jumpWindowMs: 600_000,
  stable: false,
}
const reading = (source: string, priceScaled: bigint, more: Partial<Reading> = {}): Reading => {
  return { source, priceScaled, atMs: NOW - 1_000, confidenceScaled: null, liquidityUsd: null, ...more }
}
const good = reading('good', ONE)

describe('a price is', () => {
  test('the median of the sources, the lower of two in the middle', () => {
    const readings = [reading('a', ONE + 3n), reading('b', ONE), reading('c', ONE + 1n), reading('d', ONE + 2n)]
    expect(judge(readings, [], NOW, rules)).toMatchObject({ status: 'ok', priceScaled: ONE + 1n })
    expect(judge(readings.slice(0, 3), [], NOW, rules)).toMatchObject({ priceScaled: ONE + 1n })
  })

  test.each([
    ['stale', { atMs: NOW - 60_001 }],
    ['unsure', { confidenceScaled: ONE / 99n }],
    ['thin', { liquidityUsd: 49_999n }],
    ['zero', { priceScaled: 0n }],
  ])('refused when one of two sources is %s: the one left is not enough', (_name, more) => {
    expect(judge([good, reading('bad', ONE, more)], [], NOW, rules).status).toBe('refused')
    expect(judge([good, good, reading('bad', ONE, more)], [], NOW, rules).status).toBe('ok')
  })

  test('refused when sources disagree', () => {
    expect(judge([good, reading('b', (ONE * 102n) / 100n)], [], NOW, rules).status).toBe('ok')
    expect(judge([good, reading('b', (ONE * 103n) / 100n)], [], NOW, rules)).toEqual({
      status: 'refused',
      reason: 'the sources disagree',
    })
  })

  test('refused after a jump, until the old price is out of the window', () => {
    const past = [{ priceScaled: (ONE * 8n) / 10n, atMs: NOW - 500_000 }]
    expect(judge([good, good], past, NOW, rules)).toEqual({ status: 'refused', reason: 'the price jumped' })
    expect(judge([good, good], past, NOW + 100_001, { ...rules, maxAgeMs: 600_000 }).status).toBe('ok')
  })

  test('at most a dollar for a pegged token, and none once it lost its peg', () => {
    const stable = { ...rules, stable: true }
    const at = (percent: bigint) => reading('s', (ONE * percent) / 100n)
    expect(judge([at(101n), at(101n)], [], NOW, stable)).toMatchObject({ priceScaled: ONE })
    expect(judge([at(99n), at(99n)], [], NOW, stable)).toMatchObject({ priceScaled: (ONE * 99n) / 100n })
    expect(judge([at(97n), at(97n)], [], NOW, stable)).toMatchObject({ status: 'refused' })
  })
})

describe('sources', () => {
  const MINT = 'So11111111111111111111111111111111111111112'
  let answer: { status: number; body: string } = { status: 200, body: '' }
  let asked = { url: '', headers: new Headers() }
  let server: ReturnType<typeof Bun.serve>
  let baseUrl = ''
  beforeAll(() => {
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        asked = { url: request.url, headers: new Headers(request.headers) }
        return new Response(answer.body, { status: answer.status })
      },
    })
    baseUrl = `http://127.0.0.1:${server.port}`
  })
  afterAll(() => server.stop(true))
  const read = (source: PriceSource, body: string, nowMs = NOW) => {
    answer = { status: 200, body }
    return source.read(MINT, nowMs)
  }

  test('jupiter: every digit of a tiny price is kept, and a block that stands still grows old', async () => {
    const jupiter = jupiterSource({ baseUrl, apiKey: 'k' })
    const body = (block: number) =>
      `{"${MINT}":{"usdPrice":0.00000123456789012345,"blockId":${block},"decimals":6,"liquidity":123456.78,"priceChange24h":-1.5}}`
    expect(await read(jupiter, body(7))).toEqual({
      source: 'jupiter',
      priceScaled: 1_234_567_890_123n,
      atMs: NOW,
      confidenceScaled: null,
      liquidityUsd: 123_456n,
    })
    expect(asked.url).toBe(`${baseUrl}/price/v3?ids=${MINT}`)
    expect(asked.headers.get('x-api-key')).toBe('k')
    expect((await read(jupiter, body(7), NOW + 90_000)).atMs).toBe(NOW)
    expect((await read(jupiter, body(8), NOW + 90_000)).atMs).toBe(NOW + 90_000)
    await expect(read(jupiter, '{}')).rejects.toThrow('no reliable price')
  })

  test('pyth: integers with an exponent, and when they were published', async () => {
    const pyth = pythSource({ baseUrl, apiKey: 'k', feedId: 'ab' })
    const price = { price: '4056018512', conf: '1000', expo: -10, publish_time: 1_799_999_990 }
    expect(await read(pyth, JSON.stringify({ parsed: [{ id: 'ab', price }] }))).toEqual({
      source: 'pyth',
      priceScaled: 405_601_851_200_000_000n,
      atMs: 1_799_999_990_000,
      confidenceScaled: 100_000_000_000n,
      liquidityUsd: null,
    })
    expect(asked.headers.get('authorization')).toBe('Bearer k')
    await expect(read(pyth, '{"parsed":[]}')).rejects.toThrow('no price')
    const negative = { ...price, price: '-5' }
    await expect(read(pyth, JSON.stringify({ parsed: [{ price: negative }] }))).rejects.toThrow('no price')
  })

  test('coingecko: the price and its time, under the address in lower case', async () => {
    const coingecko = coingeckoSource({ baseUrl, apiKey: '' })
    const body = `{"${MINT.toLowerCase()}":{"usd":1.5e-7,"last_updated_at":1799999000}}`
    expect(await read(coingecko, body)).toMatchObject({ priceScaled: 150_000_000_000n, atMs: 1_799_999_000_000 })
    await expect(read(coingecko, '{}')).rejects.toThrow('no price')
  })

  test.each(['not json', '<html></html>', '[]', 'null', '"x"'])('an answer of %p is no price', async body => {
    for (const source of [
      jupiterSource({ baseUrl, apiKey: '' }),
      pythSource({ baseUrl, apiKey: '', feedId: 'ab' }),
      coingeckoSource({ baseUrl, apiKey: '' }),
    ]) {
      await expect(read(source, body)).rejects.toThrow()
    }
  })

  test('an error of the source names its host and no key', async () => {
    answer = { status: 429, body: '' }
    const source = pythSource({ baseUrl, apiKey: 'very-secret', feedId: 'ab' })
    await expect(source.read(MINT, NOW)).rejects.toThrow(`127.0.0.1:${server.port} answered 429`)
  })
})

describe('the oracle', () => {
  const log = createLog('test', 'silent')

  test('asks each source once for all who ask within its cache time', async () => {
    let reads = 0
    let nowMs = NOW
    const source: PriceSource = {
      name: 's',
      async read(_mint, atMs) {
        reads++
        return reading('s', ONE, { atMs })
      },
    }
    const oracle = createOracle({
      sources: [source],
      rules: { ...rules, quorum: 1 },
      cacheMs: 10_000,
      now: () => nowMs,
      log,
    })
    await Promise.all([oracle.price('m'), oracle.price('m'), oracle.price('m')])
    expect(reads).toBe(1)
    nowMs += 10_001
    expect(await oracle.price('m')).toEqual({
      status: 'ok',
      priceScaled: ONE,
      sources: [{ source: 's', price: '1', atMs: nowMs }],
    })
    expect(reads).toBe(2)
  })

  test('looks by itself at what was asked for, so that a jump between two quotes is seen', async () => {
    let nowMs = NOW
    let priceScaled = ONE
    const source: PriceSource = { name: 's', read: async (_mint, atMs) => reading('s', priceScaled, { atMs }) }
    const options = { sources: [source], rules: { ...rules, quorum: 1 }, cacheMs: 10_000, now: () => nowMs, log }
    const oracle = createOracle(options)
    await oracle.refresh()
    expect((await oracle.price('m')).status).toBe('ok')
    nowMs += 550_000
    await oracle.refresh()
    nowMs += 550_000
    priceScaled = 2n * ONE
    expect(await oracle.price('m')).toEqual({ status: 'refused', reason: 'the price jumped' })
  })

  test('refuses when a source fails and too few are left', async () => {
    const broken: PriceSource = { name: 'b', read: () => Promise.reject(new Error('down')) }
    const fine: PriceSource = { name: 'f', read: async () => reading('f', ONE) }
    const oracle = createOracle({ sources: [broken, fine], rules, cacheMs: 0, now: () => NOW, log })
    expect((await oracle.price('m')).status).toBe('refused')
  })
})
