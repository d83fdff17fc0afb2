import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  asks,
  busUsers,
  defaultLimits,
  microFromUsdText,
  permissionsOf,
  publicErrors,
  routes,
  shardOf,
  usdTextFromMicro,
} from './index.ts'

const contract = readFileSync(new URL('../../docs/interface.md', import.meta.url), 'utf8')

/** The rows of the table under a heading, cells trimmed of spaces and code marks. */
function table(heading: string): string[][] {
  const section = contract.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter(line => line.startsWith('|'))
  return rows.map(row =>
    row
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim().replaceAll('`', '')),
  )
}

test('the error table is the one of interface.md, in both directions', () => {
  const listed = table('Errors').filter(([status]) => /^\d+$/.test(status ?? ''))
  expect(Object.fromEntries(listed.map(([status, code]) => [code, Number(status)]))).toEqual(publicErrors)
})

test('the limits are those of interface.md, on the routes that it names', () => {
  const windows: Record<string, number> = { minute: 60_000, hour: 3_600_000 }
  for (const [scope = '', text = ''] of table('Limits').filter(([scope]) => /^POST /.test(scope ?? ''))) {
    const [, count, window = '', per] = /^(\d+) per (\w+) per (\w+)$/.exec(text) ?? []
    const route = routes.find(({ method, path }) => `${method} ${path}` === scope)
    expect(route?.limit, scope).toBeDefined()
    if (!route?.limit) continue
    expect<object>(defaultLimits[route.limit]).toMatchObject({
      count: Number(count),
      windowMs: windows[window],
      per: per?.toLowerCase(),
    })
  }
})

test('every endpoint of interface.md is a route', () => {
  const named = [...contract.matchAll(/^### (GET|POST|DELETE) (\/\S*)/gm)].map(
    ([, method, path]) => `${method} ${path}`,
  )
  expect(named.length).toBeGreaterThan(8)
  const known = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  expect(named.filter(name => !known.has(name))).toEqual([])
})

test('only billing may credit, only the operator may adjust, only the metering proxy may hold', () => {
  const who = (subject: string) => busUsers.filter(user => permissionsOf(user).publish.includes(`${subject}.*`))
  expect(who('ledger.credit')).toEqual(['billing'])
  expect(who('ledger.adjust')).toEqual(['operator'])
  for (const subject of ['ledger.hold', 'ledger.settle', 'ledger.release', 'ledger.extend']) {
    expect(who(subject)).toEqual(['metering-proxy'])
  }
})

test('no permission is a bare wildcard, and no service hears another’s answers', () => {
  for (const user of busUsers) {
    const { publish, subscribe } = permissionsOf(user)
    for (const subject of [...publish, ...subscribe]) expect(subject).not.toMatch(/^[>*]/)
    expect(subscribe.filter(subject => subject.startsWith('_INBOX_'))).toEqual([
      `_INBOX_${user.replaceAll('-', '_')}.>`,
    ])
  }
})

test('a subject is asked of one owner', () => {
  expect(new Set(asks.map(({ subject }) => subject)).size).toBe(asks.length)
})

test('a USD text is read exactly or refused', () => {
  const cases: [string, bigint | null][] = [
    ['10', 10_000_000n],
    ['0.99', 990_000n],
    ['1.000001', 1_000_001n],
    ['0.0000001', null],
    ['1e3', null],
    ['NaN', null],
    ['-5', null],
    [' 10', null],
    ['10 ', null],
    ['+1', null],
    ['01', null],
    ['1.', null],
    ['.5', null],
    ['', null],
    ['1_000', null],
    ['٣', null],
    [`1.${'0'.repeat(30)}`, null],
    ['9999999999', null],
  ]
  for (const [text, micro] of cases) expect(microFromUsdText(text), text).toBe(micro)
})

test('USD text and micro-USD are each other’s inverse', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 14n }), micro => {
      expect(microFromUsdText(usdTextFromMicro(micro))).toBe(micro)
    }),
  )
})

test('an account’s shard is stable', () => {
  expect(shardOf('acct_1')).toBe(shardOf('acct_1'))
})
