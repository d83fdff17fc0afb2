import type { AccountId, KeyId, ledger } from '@tollgate/contracts'
import fc from 'fast-check'
import { expiryOf, type Operation } from '../operation.ts'
import { chargeDetail, creditDetail } from './details.ts'

/** What happens: operations that arrive together, or time that passes. */
export type Step = { batch: Operation[] } | 'expiries pass' | 'windows pass'

/**
 * Random histories over few names, so that operations meet: repeated ids with the same and with other content, settlements
 * before their hold, releases that overtake, holds of other accounts, expiries that are due or not.
 */
export function histories({ steps = 12, batch = 8 } = {}): fc.Arbitrary<Step[]> {
  const operation = operations()
  const batches = fc.uniqueArray(operation, {
    minLength: 1,
    maxLength: batch,
    // The batcher hands over each id once; extensions have none.
    selector: one => ('id' in one ? one.id : one),
  })
  const step = fc.oneof(
    { weight: 12, arbitrary: batches.map(operations => ({ batch: operations })) },
    { weight: 1, arbitrary: fc.constant<Step>('expiries pass') },
    { weight: 1, arbitrary: fc.constant<Step>('windows pass') },
  )
  return fc.array(step, { minLength: 1, maxLength: steps })
}

/** Stands for the scope in every name, so that each run can have names of its own. */
const scope = '@'

/** The operation with the names of one run. */
export function inScope<O extends Operation>(operation: O, name: string): O {
  const renamed = Object.entries(operation).map(([field, value]) => [
    field,
    typeof value === 'string' ? value.replace(scope, name) : value,
  ])
  // The same fields with the same kinds of values.
  return Object.fromEntries(renamed) as O
}

/** Any operation over two accounts, three keys and six holds; `foreign`: now and then about a hold of the other account. */
export function operations({ foreign = true } = {}): fc.Arbitrary<Operation> {
  const account = fc.constantFrom<AccountId[]>(...namesOf(scope).accounts)
  const key = fc.constantFrom<KeyId[]>(...namesOf(scope).keys)
  const request = fc.integer({ min: 1, max: 6 }).map(n => `${scope}:${n}`)
  const small = fc.bigInt({ min: 0n, max: 60n })
  const ttlMs = fc.constant(60_000)
  const window = fc.constantFrom<ledger.CapWindow[]>('none', 'daily', 'weekly', 'monthly')

  /** Mostly the account that a request's hold would have, sometimes another. */
  const ofRequest = (n: string) =>
    foreign
      ? fc.oneof({ weight: 9, arbitrary: fc.constant(homeOf(n)) }, { weight: 1, arbitrary: account })
      : fc.constant(homeOf(n))
  const about = request.chain(n => ofRequest(n).map(account => ({ n, account })))
  /** A key belongs to one account. */
  const keyOf = (account: AccountId) => fc.option(key.filter(id => ownerOf(id) === account))

  return fc.oneof(
    {
      weight: 6,
      arbitrary: about.chain(({ n, account }) =>
        fc.record({
          kind: fc.constant('hold' as const),
          id: fc.constant(`hold:${n}`),
          account: fc.constant(account),
          key: keyOf(account),
          minMicro: fc.constantFrom(0n, 10n, 30n),
          maxMicro: fc.constantFrom(30n, 30n, 50n),
          ttlMs,
        }),
      ),
    },
    {
      weight: 5,
      arbitrary: fc.tuple(about, small, fc.constantFrom('', 'b')).map(([{ n, account }, costMicro, again]) => ({
        kind: 'settle' as const,
        id: `settle:${n}${again}`,
        hold: `hold:${n}`,
        account,
        costMicro,
        detail: chargeDetail,
      })),
    },
    {
      weight: 2,
      arbitrary: about.map(({ n, account }) => ({
        kind: 'release' as const,
        id: `release:${n}`,
        hold: `hold:${n}`,
        account,
      })),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(about, small, ttlMs).map(([{ n, account }, costMicro, ttlMs]) => ({
        kind: 'extend' as const,
        hold: `hold:${n}`,
        account,
        costMicro,
        ttlMs,
      })),
    },
    { weight: 2, arbitrary: request.map(n => expiryOf(`hold:${n}`, homeOf(n))) },
    {
      weight: 3,
      arbitrary: fc.tuple(account, small, fc.integer({ min: 1, max: 8 })).map(([account, amountMicro, n]) => ({
        kind: 'credit' as const,
        id: `credit:${scope}:${n}`,
        account,
        amountMicro,
        detail: creditDetail,
      })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(account, fc.bigInt({ min: -40n, max: 40n }), fc.integer({ min: 1, max: 4 }))
        .map(([account, amountMicro, n]) => ({
          kind: 'adjust' as const,
          id: `adjust:${scope}:${n}`,
          account,
          amountMicro,
          reason: 'model',
        })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(key, fc.option(small), window, fc.integer({ min: 1, max: 6 }))
        .map(([key, capMicro, window, n]) => ({
          kind: 'set_cap' as const,
          id: `set_cap:${scope}:${n}`,
          account: ownerOf(key),
          key,
          capMicro,
          window,
        })),
    },
    {
      weight: 1,
      arbitrary: key.map(key => ({ kind: 'close_key' as const, id: `close_key:${key}`, account: ownerOf(key), key })),
    },
  )
}

export function namesOf(scope: string): { accounts: AccountId[]; keys: KeyId[]; holds: string[] } {
  return {
    holds: [1, 2, 3, 4, 5, 6].map(n => `hold:${scope}:${n}`),
    accounts: [`acct_${scope}a`, `acct_${scope}b`],
    keys: [`key_${scope}a1`, `key_${scope}a2`, `key_${scope}b1`],
  }
}

function ownerOf(key: KeyId): AccountId {
  return key.startsWith(`key_${scope}a`) ? `acct_${scope}a` : `acct_${scope}b`
}

/** Even requests are of one account, odd ones of the other. */
function homeOf(request: string): AccountId {
  return Number(request.at(-1)) % 2 === 0 ? `acct_${scope}a` : `acct_${scope}b`
}
