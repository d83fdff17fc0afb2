import { expect, test } from 'bun:test'
import { Secret } from '@tollgate/service'
import { readCatalogue } from './catalogue.ts'

const providers = { openai: { kind: 'openai', baseUrl: 'https://api.openai.com/v1/', apiKeyEnv: 'OPENAI_API_KEY' } }
const mini = {
  id: 'gpt-4o-mini',
  inMicro: 150_000,
  outMicro: 600_000,
  cachedInMicro: 75_000,
  contextTokens: 128_000,
  maxOutputTokens: 16_384,
  routes: [{ provider: 'openai', model: 'gpt-4o-mini' }],
}
const keyOf = (name: string) => (name === 'OPENAI_API_KEY' ? new Secret('sk-test') : undefined)

test("the file of the README's format is read", () => {
  const model = readCatalogue({ providers, models: [mini] }, keyOf).get('gpt-4o-mini')
  expect(model?.prices).toEqual({
    inMicro: 150_000n,
    outMicro: 600_000n,
    cachedInMicro: 75_000n,
    cacheWriteMicro: null,
  })
  expect(model?.routes[0]?.target).toMatchObject({ baseUrl: 'https://api.openai.com/v1', model: 'gpt-4o-mini' })
  expect(model?.routes[0]?.target.apiKey?.reveal()).toBe('sk-test')
})

function problemsOf(catalogue: unknown): string {
  try {
    readCatalogue(catalogue, keyOf)
  } catch (error) {
    return String(error)
  }
  throw new Error('the catalogue was accepted')
}

test('every problem is named at once', () => {
  const shape = problemsOf({
    providers: { p: { kind: 'openai', baseUrl: 'ftp://x', oops: 1 } },
    models: [{ ...mini, inMicro: 0.15, outMicro: -1, routes: [] }],
  })
  for (const place of [
    '/providers/p/baseUrl',
    '/providers/p/oops',
    '/models/0/inMicro',
    '/models/0/outMicro',
    '/models/0/routes',
  ]) {
    expect(shape).toContain(place)
  }
  const meaning = problemsOf({
    providers: { p: { kind: 'telepathy', baseUrl: 'http://x', apiKeyEnv: 'NO_SUCH_KEY' } },
    models: [
      { ...mini, maxOutputTokens: 200_000 },
      { ...mini, routes: [{ provider: 'constructor', model: 'm' }] },
    ],
  })
  for (const problem of [
    'telepathy',
    'NO_SUCH_KEY',
    'exceeds contextTokens',
    'there twice',
    '"constructor" is not among',
  ]) {
    expect(meaning).toContain(problem)
  }
})

test('a price per token where one per million is meant is refused', () => {
  expect(problemsOf({ providers, models: [{ ...mini, inMicro: 150_000_000_000 }] })).toContain('/models/0/inMicro')
})
