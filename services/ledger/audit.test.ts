import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { newId } from '@tollgate/contracts'
import { auditSql, checks } from './checks.ts'
import type { Operation } from './operation.ts'
import { credit, hold, settle } from './test/requests.ts'
import { type Rig, rig, START_MS } from './test/rig.ts'

let on: Rig
const account = newId('account')
const key = newId('key')
const open: Operation<'hold'> = { ...hold(account, 40n), key }
const closed: Operation<'hold'> = { ...hold(account, 30n), key }
const expired = hold(account, 5n)

beforeAll(async () => {
  on = await rig()
  for (const operation of [credit(account, 100n), open, closed, settle(closed, 25n), expired])
    await on.batcher.submit(operation)
  await on.admin(`update open_hold set expires_at = now() - interval '1 s' where id = '${expired.id}'`)
  await on.batcher.submit({ kind: 'expire', id: `expire:${expired.id}`, hold: expired.id, account })
}, START_MS)
afterAll(() => on.close(), START_MS)
beforeEach(async () => expect(await on.admin(auditSql)).toEqual([]))

/** What breaks a row as a bug or a hand would, past every check of the tables, and the checks that must name it. */
const damages: [damage: string, repair: string, names: string[]][] = [
  [
    'update account set posted_micro = posted_micro + 1',
    'update account set posted_micro = posted_micro - 1',
    ['balance', 'chain'],
  ],
  [
    'update account set held_micro = held_micro - 1',
    'update account set held_micro = held_micro + 1',
    ['chain', 'held'],
  ],
  [
    "update posting set amount_micro = amount_micro + 1 where account = 'system:provider_cost'",
    "update posting set amount_micro = amount_micro - 1 where account = 'system:provider_cost'",
    ['zero', 'zero'],
  ],
  [
    `update posting set amount_micro = amount_micro - 1 where account = '${account}' and amount_micro < 0`,
    `update posting set amount_micro = amount_micro + 1 where account = '${account}' and amount_micro < 0`,
    ['balance', 'zero', 'zero', 'entry'],
  ],
  [
    `update journal set posted_micro = posted_micro + 1 where op_id = '${closed.id}'`,
    `update journal set posted_micro = posted_micro - 1 where op_id = '${closed.id}'`,
    ['chain', 'chain'],
  ],
  [
    'update key_cap set spent_micro = spent_micro - 1',
    'update key_cap set spent_micro = spent_micro + 1',
    ['key spent'],
  ],
  ['update key_cap set held_micro = held_micro - 1', 'update key_cap set held_micro = held_micro + 1', ['key held']],
  [
    'update open_hold set granted_micro = granted_micro + 1',
    'update open_hold set granted_micro = granted_micro - 1',
    ['held', 'key held'],
  ],
  [`update open_hold set id = 'hold:stray'`, `update open_hold set id = '${open.id}'`, ['open hold', 'closed hold']],
  [
    `update op set refusal = 'key_closed' where id = '${open.id}'`,
    `update op set refusal = null where id = '${open.id}'`,
    ['journalled once', 'open hold'],
  ],
  [
    `update op set id = 'settle:lost' where kind = 'settle'`,
    `update op set id = '${settle(closed, 0n).id}' where id = 'settle:lost'`,
    ['journalled once', 'journalled once'],
  ],
  [
    `update journal set hold = '${open.id}' where kind = 'settle'`,
    `update journal set hold = '${closed.id}' where kind = 'settle'`,
    ['open hold', 'closed hold'],
  ],
  [`update expired_hold set id = '${open.id}'`, `update expired_hold set id = '${expired.id}'`, ['expired hold']],
]

for (const [damage, repair, names] of damages) {
  test(`the audit names what "${damage.replace(/_[0-9a-f]{32}/g, '_…')}" broke`, async () => {
    await on.admin(damage)
    const broken = await on.admin(auditSql)
    await on.admin(repair)
    expect(broken.map(({ check }) => String(check)).sort()).toEqual([...names].sort())
    expect(broken.every(({ row }) => typeof row === 'string' && row !== '')).toBe(true)
  })
}

test('what is negative is named even where the table would refuse it', async () => {
  await on.admin('alter table account drop constraint available_not_negative')
  await on.admin(`update account set posted_micro = 0, held_micro = 40 where id = '${account}'`)
  const broken = await on.admin(auditSql)
  expect(broken).toContainEqual({ check: 'never below zero', row: account, expected: '>= 0', found: '0 held 40' })
  await on.admin(`update account set posted_micro = 75 where id = '${account}'`)
  await on.admin('alter table account add constraint available_not_negative check (posted_micro - held_micro >= 0)')
})

test('the command ends with 0 and says so when all is well, with 1 and the row when not', async () => {
  const run = async () => {
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/audit.ts`], {
      env: { PATH: process.env.PATH ?? '', DATABASE_ADMIN_URL: on.adminUrl },
      stdout: 'pipe',
    })
    return { said: await child.stdout.text(), status: await child.exited }
  }
  const clean = await run()
  expect(clean.status).toBe(0)
  for (const { name } of checks) expect(clean.said).toContain(`ok      ${name}: `)
  await on.admin('update key_cap set spent_micro = 24')
  const broken = await run()
  await on.admin('update key_cap set spent_micro = 25')
  expect(broken.status).toBe(1)
  expect(broken.said).toContain(`${key}: expected 25 life 25, found 24 life 25`)
})
