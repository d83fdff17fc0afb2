import { type Bus, BusFault } from '@tollgate/bus'
import { type AccountId, ledger, type ReplyOf, type RequestOf } from '@tollgate/contracts'
import { answer } from './answer.ts'
import type { Batcher } from './batcher.ts'
import type { Operation, Outcome } from './operation.ts'
import type { Store } from './store.ts'

type Ledger = typeof ledger
type Requests<A extends keyof Ledger['ledgerAsks']> = RequestOf<Ledger['ledgerAsks'][A]>[]
type Replies<A extends keyof Ledger['ledgerAsks']> = Promise<(ReplyOf<Ledger['ledgerAsks'][A]> | BusFault)[]>

/** One function per subject of the contract. */
export function handlers(batcher: Batcher, store: Store) {
  /** Every operation goes the same way; one that has no answer says so for itself alone. */
  const each = <Reply>(operations: Operation[], reply: (outcome: Outcome) => Reply): Promise<(Reply | BusFault)[]> =>
    Promise.all(operations.map(operation => batcher.submit(operation).then(reply).catch(asFault)))

  return {
    hold: (requests: Requests<'hold'>): Replies<'hold'> =>
      each(
        requests.map(request => ({ kind: 'hold', ...request })),
        outcome =>
          answer(outcome, ({ amountMicro, availableMicro }) => ({
            status: 'held',
            grantedMicro: amountMicro,
            availableMicro,
          })),
      ),

    extend: (requests: Requests<'extend'>): Replies<'extend'> =>
      each(
        requests.map(request => ({ kind: 'extend', ...request })),
        outcome => answer(outcome, () => ({ status: 'extended' })),
      ),

    settle: (requests: Requests<'settle'>): Replies<'settle'> =>
      each(
        requests.map(request => ({ kind: 'settle', ...request })),
        outcome =>
          answer(outcome, ({ amountMicro, shortfallMicro, availableMicro }) => ({
            status: 'settled',
            chargedMicro: amountMicro,
            shortfallMicro,
            availableMicro,
          })),
      ),

    release: (requests: Requests<'release'>): Replies<'release'> =>
      each(
        requests.map(request => ({ kind: 'release', ...request })),
        outcome => answer(outcome, ({ amountMicro }) => ({ status: 'released', freedMicro: amountMicro })),
      ),

    credit: (requests: Requests<'credit'>): Replies<'credit'> =>
      each(
        requests.map(request => ({ kind: 'credit', ...request })),
        outcome => answer(outcome, ({ availableMicro }) => ({ status: 'credited', availableMicro })),
      ),

    adjust: (requests: Requests<'adjust'>): Replies<'adjust'> =>
      each(
        requests.map(request => ({ kind: 'adjust', ...request })),
        outcome => answer(outcome, ({ availableMicro }) => ({ status: 'adjusted', availableMicro })),
      ),

    setCap: (requests: Requests<'setCap'>): Replies<'setCap'> =>
      each(
        requests.map(request => ({ kind: 'set_cap', ...request })),
        outcome => answer(outcome, () => ({ status: 'cap_set' })),
      ),

    closeKey: (requests: Requests<'closeKey'>): Replies<'closeKey'> =>
      each(
        requests.map(request => ({ kind: 'close_key', ...request })),
        outcome => answer(outcome, () => ({ status: 'key_closed' })),
      ),

    balance: ({ account }: { account: AccountId }) => store.balance(account),
    keySpend: async ({ account, keys }: RequestOf<Ledger['keySpend']>) => ({
      keys: await store.keySpend(account, keys),
    }),
    history: (request: RequestOf<Ledger['history']>) => store.history(request),
  }
}

/** Answers every subject of the contract, in the queue group that all ledgers share. */
export function serveAll(bus: Bus, answers: ReturnType<typeof handlers>) {
  return [
    bus.serve(ledger.hold, answers.hold),
    bus.serve(ledger.extend, answers.extend),
    bus.serve(ledger.settle, answers.settle),
    bus.serve(ledger.release, answers.release),
    bus.serve(ledger.credit, answers.credit),
    bus.serve(ledger.adjust, answers.adjust),
    bus.serve(ledger.setCap, answers.setCap),
    bus.serve(ledger.closeKey, answers.closeKey),
    bus.serve(ledger.balance, answers.balance),
    bus.serve(ledger.keySpend, answers.keySpend),
    bus.serve(ledger.history, answers.history),
  ]
}

function asFault(fault: unknown): BusFault {
  return fault instanceof BusFault ? fault : new BusFault('internal', 'the operation failed', { cause: fault })
}
