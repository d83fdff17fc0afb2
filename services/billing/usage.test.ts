import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connectBus } from '@tollgate/bus'
import {
  type ErrorBody,
  type KeyId,
  ledger,
  newId,
  type RequestOf,
  type TransactionList,
  type UsageAnswer,
  type WireOf,
} from '@tollgate/contracts'
import { openDatabase } from '@tollgate/db'
import { eventually } from '@tollgate/testing'
import { rebuildUsage } from './consumers.ts'
import { type Caller, startWorld, type World } from './test/world.ts'
import { type Charge, chargesOf } from './usage/charge.ts'
import { createUsageStore } from './usage/store.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

const TODAY = new Date().toISOString().slice(0, 10)

const get = async <Body>(as: Caller, path: string) => world.running.billing.ask<Body>('GET', `/billing/${path}`, { as })
const usageOf = async (as: Caller, query = '') => (await get<WireOf<typeof UsageAnswer>>(as, `usage${query}`)).body.data

async function give(to: Caller, amountMicro: bigint): Promise<void> {
  const id = `adjust:${newId('request')}`
  await world.operator.call(ledger.adjust, { id, account: to.acct, amountMicro, reason: 'a gift' })
}

interface Call {
  model?: string
  key?: KeyId | null
  costMicro: bigint
  promptTokens?: number
  completionTokens?: number
}

/** A completion, as the ledger sees it. */
async function complete(by: Caller, { model = 'm', key = null, costMicro, ...tokens }: Call) {
  const request = newId('request')
  const hold = `hold:${request}`
  const account = by.acct
  await world.proxy.call(ledger.hold, {
    id: hold,
    account,
    key,
    minMicro: costMicro,
    maxMicro: costMicro,
    ttlMs: 60_000,
  })
  const detail: RequestOf<typeof ledger.settle>['detail'] = {
    v: 1,
    requestId: request,
    model,
    route: 'test',
    promptTokens: 100,
    cachedTokens: 10,
    cacheWriteTokens: 0,
    completionTokens: 50,
    inMicro: 150_000n,
    outMicro: 600_000n,
    cachedInMicro: null,
    cacheWriteMicro: null,
    estimated: false,
    outcome: 'completed',
    ...tokens,
  }
  await world.proxy.call(ledger.settle, { id: `settle:${request}`, hold, account, costMicro, detail })
  return request
}

/** A charge as the ledger's journal tells it. */
function settlement(by: Caller, costMicro: number): WireOf<typeof ledger.JournalEntry> {
  const requestId = newId('request')
  return {
    v: 1,
    seq: '1',
    id: `settle:${requestId}`,
    kind: 'settle',
    account: by.acct,
    key: null,
    hold: `hold:${requestId}`,
    refusal: null,
    amountMicro: -costMicro,
    shortfallMicro: 0,
    postedMicro: 0,
    heldMicro: 0,
    detail: {
      v: 1,
      requestId,
      model: 'm',
      route: 'test',
      promptTokens: 1,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: 2,
      inMicro: 1,
      outMicro: 1,
      cachedInMicro: null,
      cacheWriteMicro: null,
      estimated: false,
      outcome: 'completed',
    },
    at: Date.now(),
  }
}

describe('transactions', () => {
  test('explain every change of the balance, newest first, and add up to it', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
    await eventually(async () => (await world.balance(caller.acct)) === 10_000_000n)
    await give(caller, 5_000n)
    const key = newId('key')
    const request = await complete(caller, { model: 'gpt', key, costMicro: 45_000n })

    const { data, next } = (await get<WireOf<typeof TransactionList>>(caller, 'transactions')).body
    expect(next).toBeNull()
    expect(data).toMatchObject([
      {
        kind: 'charge',
        amountMicro: -45_000,
        balanceMicro: 9_960_000,
        requestId: request,
        key,
        model: 'gpt',
        promptTokens: 100,
        completionTokens: 50,
        inMicro: 150_000,
        outMicro: 600_000,
        outcome: 'completed',
      },
      { kind: 'adjustment', amountMicro: 5_000, balanceMicro: 10_005_000, reason: 'a gift' },
      {
        kind: 'credit',
        amountMicro: 10_000_000,
        balanceMicro: 10_000_000,
        signature,
        tokenAmountRaw: '20000000',
        price: '0.5',
      },
    ])
    expect(BigInt(data.reduce((sum, { amountMicro }) => sum + amountMicro, 0))).toBe(await world.balance(caller.acct))
  })

  test('come in pages', async () => {
    const caller = world.newCaller()
    for (const amountMicro of [1n, 2n, 3n]) await give(caller, amountMicro)
    const first = (await get<WireOf<typeof TransactionList>>(caller, 'transactions?limit=2')).body
    const second = (await get<WireOf<typeof TransactionList>>(caller, `transactions?limit=2&before=${first.next}`)).body
    expect([...first.data, ...second.data].map(({ amountMicro }) => amountMicro)).toEqual([3, 2, 1])
    expect(second.next).toBeNull()
  })
})

describe('usage', () => {
  test('is summed by day, model and key', async () => {
    const caller = world.newCaller()
    await give(caller, 1_000_000n)
    const key = newId('key')
    await complete(caller, { model: 'a', costMicro: 10n })
    await complete(caller, { model: 'a', costMicro: 5n, promptTokens: 1, completionTokens: 2 })
    await complete(caller, { model: 'b', key, costMicro: 7n })
    const expected = [
      {
        day: TODAY,
        model: 'a',
        key: null,
        requests: 2,
        promptTokens: 101,
        cachedTokens: 20,
        completionTokens: 52,
        costMicro: 15,
      },
      {
        day: TODAY,
        model: 'b',
        key,
        requests: 1,
        promptTokens: 100,
        cachedTokens: 10,
        completionTokens: 50,
        costMicro: 7,
      },
    ]
    await eventually(async () => expect(await usageOf(caller)).toEqual(expected) ?? true)
    expect(await usageOf(caller, '?model=a')).toEqual(expected.slice(0, 1))
    expect(await usageOf(caller, `?key=${key}`)).toEqual(expected.slice(1))
    expect(await usageOf(caller, '?from=2020-01-01&to=2020-12-31')).toEqual([])
    expect(await usageOf(world.newCaller())).toEqual([])
  })

  test('is the same when it is rebuilt from nothing', async () => {
    const caller = world.newCaller()
    await give(caller, 1_000_000n)
    for (let call = 0; call < 20; call++) await complete(caller, { costMicro: 3n })
    await eventually(async () => (await usageOf(caller))[0]?.requests === 20)
    const before = await usageOf(caller)
    const own = openDatabase({ url: world.database.urls.billing.runtime, connections: 1, applicationName: 'test' })
    await rebuildUsage(world.asBilling, createUsageStore(own))
    await own.close()
    await complete(caller, { costMicro: 3n })
    await eventually(async () => (await usageOf(caller))[0]?.requests === 21, { withinMs: 20_000 })
    expect((await usageOf(caller))[0]?.costMicro).toBe((before[0]?.costMicro ?? 0) + 3)
  }, 30_000)

  test('counts a charge once in whatever message it comes, and loses none to one that cannot be read', async () => {
    const caller = world.newCaller()
    const [one, two, three] = [settlement(caller, 1), settlement(caller, 2), settlement(caller, 3)]
    const strange = { ...settlement(caller, 4), detail: { v: 0 } }
    expect(chargesOf([one, strange, 'noise', two])).toMatchObject({
      charges: [{ id: one.id }, { id: two.id }],
      unreadable: [strange.id, null],
    })
    const bus = await connectBus({ ...world.server.as('ledger'), user: 'ledger', name: 'test ledger' })
    const tell = (...wire: { id: string }[]) =>
      bus.enqueueAll([{ subject: 'events.ledger.settle', id: wire.at(-1)?.id ?? '', wire }])
    await tell(one, strange, two)
    await tell(two, three)
    await bus.close()
    await eventually(async () => ((await usageOf(caller))[0]?.requests ?? 0) >= 3)
    expect(await usageOf(caller)).toMatchObject([{ requests: 3, promptTokens: 3, completionTokens: 6, costMicro: 6 }])
  })

  test('is right when messages that share charges and rows are counted at the same time', async () => {
    const caller = world.newCaller()
    const chargeAt = (index: number): Charge => {
      const tokens = { promptTokens: 1, cachedTokens: 0, completionTokens: 1 }
      const id = `settle:${newId('request')}`
      const model = `m${index % 20}`
      return { id, account: caller.acct, day: TODAY, atMs: Date.now(), model, key: null, ...tokens, costMicro: 1n }
    }
    const own = openDatabase({ url: world.database.urls.billing.runtime, connections: 8, applicationName: 'test' })
    const usage = createUsageStore(own)
    for (let round = 0; round < 20; round++) {
      const shared = Array.from({ length: 60 }, (_, index) => chargeAt(index))
      const messages = Array.from({ length: 8 }, (_, by) => {
        const lone = Array.from({ length: 20 }, (_, index) => chargeAt(index))
        const some = [...shared.slice(by * 5), ...lone, ...shared.slice(0, by * 5)]
        return by % 2 === 0 ? some : [...some.reverse(), ...some.slice(0, 1)]
      })
      await Promise.all(messages.map(charges => usage.count(charges)))
    }
    await own.close()
    const rows = await usageOf(caller)
    // Three of the shared ones and eight of the lone ones a round.
    expect(rows.map(({ requests, costMicro }) => [requests, costMicro])).toEqual(Array(20).fill([220, 220]))
  })

  test('is given as CSV, in which no model name is a formula', async () => {
    const caller = world.newCaller()
    await give(caller, 1_000n)
    await complete(caller, { model: '=1+1,"x"', costMicro: 2n })
    await eventually(async () => (await usageOf(caller)).length === 1)
    const { headers, body } = await get<string>(caller, 'usage?format=csv')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(body.split('\r\n')).toEqual([
      'day,model,key,requests,promptTokens,cachedTokens,completionTokens,costMicro',
      `${TODAY},"'=1+1,""x""",,1,100,10,50,2`,
      '',
    ])
  })

  test.each(['from=yesterday', 'from=2026-02-30', 'from=2026-01-02&to=2026-01-01', 'from=2020-01-01', 'format=xml'])(
    '?%s is refused with 400',
    async query => {
      const { status, body } = await get<ErrorBody>(world.newCaller(), `usage?${query}`)
      expect([status, body.error.code]).toEqual([400, 'bad_request'])
    },
  )
})
