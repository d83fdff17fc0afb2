import { expect, test } from 'bun:test'
import { idPrefixes, newId } from './ids.ts'

test.each(['account', 'user', 'key', 'session', 'request', 'intent'] as const)(
  'the ids of a %s are never alike',
  kind => {
    const ids = Array.from({ length: 1_000 }, () => newId(kind))
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(new RegExp(`^${idPrefixes[kind]}_[0-9a-f]{32}$`))
  },
)

test('a request’s id begins with its time, and so sorts by it', () => {
  const before = Date.now()
  const [, digits = ''] = newId('request').split('_')
  const at = Number.parseInt(digits.slice(0, 12), 16)
  expect(at).toBeGreaterThanOrEqual(before)
  expect(at).toBeLessThanOrEqual(Date.now())
})
