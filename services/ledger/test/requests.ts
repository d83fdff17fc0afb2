import { type AccountId, newId } from '@tollgate/contracts'
import type { Operation } from '../operation.ts'
import { chargeDetail, creditDetail } from './details.ts'

/** Operations with fresh ids, for tests that are not about ids. */
export function credit(account: AccountId, amountMicro: bigint): Operation<'credit'> {
  return { kind: 'credit', id: `credit:${crypto.randomUUID()}`, account, amountMicro, detail: creditDetail }
}

export function hold(account: AccountId, amountMicro: bigint, ttlMs = 60_000): Operation<'hold'> {
  return {
    kind: 'hold',
    id: `hold:${newId('request')}`,
    account,
    key: null,
    minMicro: amountMicro,
    maxMicro: amountMicro,
    ttlMs,
  }
}

export function settle({ id, account }: Operation<'hold'>, costMicro: bigint): Operation<'settle'> {
  return { kind: 'settle', id: id.replace('hold', 'settle'), hold: id, account, costMicro, detail: chargeDetail }
}
