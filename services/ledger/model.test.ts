import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { auditSql } from './checks.ts'
import { type Outcome, type Prepared, prepare } from './operation.ts'
import { histories, inScope, namesOf, operations, type Step } from './test/histories.ts'
import { createModel } from './test/model.ts'
import { type Rig, rig, START_MS } from './test/rig.ts'

/** `SEED=… HISTORIES=… bun test model` plays the same histories again, or more of them. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const runs = Number(process.env.HISTORIES ?? 2_000)
console.log(`ledger model: SEED=${seed} HISTORIES=${runs}`)
/** On a machine that is busy with other things, fewer histories rather than a test that takes for ever. */
const bounded = { interruptAfterTimeLimit: 60_000 * Math.max(1, runs / 2_000), markInterruptAsFailure: false }
const TIMEOUT_MS = 2 * bounded.interruptAfterTimeLimit

let on: Rig
let scopes = 0
beforeAll(async () => {
  on = await rig()
}, START_MS)
afterAll(() => on.close(), START_MS)

const nothingBroken = async () => expect(await on.admin(auditSql)).toEqual([])

test(
  'any history of batches answers as the model does, and leaves the same balances',
  async () => {
    await fc.assert(
      fc.asyncProperty(histories(), async steps => play(steps, `r${scopes++}x`)),
      { seed, numRuns: runs, ...bounded },
    )
    await nothingBroken()
  },
  TIMEOUT_MS,
)

test(
  'of several ledgers at once, with everything asked twice and in any order, each account sees one history',
  async () => {
    const writers = [on, on.writer(), on.writer()]
    const asked = fc.array(
      fc.record({
        operation: operations({ foreign: false }).filter(({ kind }) => kind !== 'extend'),
        writers: fc.array(fc.nat({ max: writers.length - 1 }), { minLength: 1, maxLength: 3 }),
      }),
      { minLength: 20, maxLength: 80 },
    )
    await fc.assert(
      fc.asyncProperty(asked, async questions => {
        const scope = `c${scopes++}x`
        const answers = questions.flatMap(({ operation, writers: to }) => {
          const scoped = inScope(operation, scope)
          return to.map(async writer => ({
            prepared: prepare(scoped),
            outcome: await writers[writer]?.batcher.submit(scoped),
          }))
        })
        await pass('expiries', scope)
        await replay(await Promise.all(answers), scope)
      }),
      { seed, numRuns: Math.ceil(runs / 5), ...bounded },
    )
    await nothingBroken()
  },
  TIMEOUT_MS,
)

/** The journal's order is the history that the account saw: the model must answer the same in that order. */
async function replay(answers: { prepared: Prepared; outcome: Outcome | undefined }[], scope: string): Promise<void> {
  const rows = await on.admin(
    `select op_id, replace(content::text, '-', '') as content from journal where account in (${list(namesOf(scope).accounts)}) order by seq`,
  )
  const model = createModel()
  const decided = new Map<string, { content: string | null; outcome: Outcome }>()
  for (const { op_id: id, content } of rows) {
    const first = answers.find(({ prepared }) => prepared.id === id && prepared.content === content)
    // A hold that its release refused before it came stands in the journal without content.
    if (!first) continue
    model.expiriesPass()
    decided.set(String(id), { content: first.prepared.content, outcome: model.apply(first.prepared.operation) })
  }
  for (const { prepared, outcome } of answers) {
    const before = decided.get(prepared.id ?? '')
    if (outcome?.outcome === 'skipped') continue
    else if (!before) expect(outcome?.outcome).toBe('hold_closed')
    else if (before.content === prepared.content) expect(outcome).toEqual(before.outcome)
    else expect(outcome?.outcome).toBe('id_reused')
  }
  for (const account of namesOf(scope).accounts)
    expect(await on.store.balance(account)).toMatchObject(model.balance(account))
}

async function play(steps: Step[], scope: string): Promise<void> {
  const model = createModel()
  for (const step of steps) {
    if (step === 'expiries pass') {
      await pass('expiries', scope)
      model.expiriesPass()
    } else if (step === 'windows pass') {
      await pass('windows', scope)
      model.windowsPass()
    } else {
      const batch = step.batch.map(operation => inScope(operation, scope))
      const answers = await on.store.apply(batch.map(prepare))
      expect(answers.map(said)).toEqual(batch.map(operation => said(model.apply(operation))))
    }
  }
  for (const account of namesOf(scope).accounts) {
    expect(await on.store.balance(account)).toMatchObject(model.balance(account))
    const [sum] = await on.admin(
      `select coalesce(sum(shortfall_micro), 0)::bigint as shortfall from journal where account = '${account}'`,
    )
    expect(sum?.shortfall).toBe(model.shortfall(account))
  }
  const [a] = namesOf(scope).accounts
  if (!a) return
  for (const spend of await on.store.keySpend(a, namesOf(scope).keys)) {
    if (spend.key.includes('b')) continue
    expect(spend).toMatchObject(model.spend(spend.key))
  }
}

/** Time is moved by moving what is stored into the past. */
function pass(what: 'expiries' | 'windows', scope: string): Promise<unknown> {
  const { holds, keys } = namesOf(scope)
  return on.admin(
    what === 'expiries'
      ? `update open_hold set expires_at = expires_at - interval '2 hours' where id in (${list(holds)})`
      : `update key_cap set resets_at = resets_at - interval '32 days' where id in (${list(keys)})`,
  )
}

const list = (names: readonly string[]) => names.map(name => `'${name}'`).join(',')

/** What an expiry that was not due says besides is nobody's business. */
const said = (outcome: Outcome) => (outcome.outcome === 'skipped' ? 'skipped' : outcome)
