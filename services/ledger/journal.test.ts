import { expect, test } from 'bun:test'
import type { ledger } from '@tollgate/contracts'
import { entryOf, MESSAGE_ENTRIES_MAX, messagesOf } from './journal.ts'

const entry = (seq: number, kind: ledger.JournalKind) =>
  entryOf({
    seq: BigInt(seq),
    op_id: `${kind}:${seq}`,
    kind,
    account: 'acct_1',
    key: null,
    hold: null,
    refusal: null,
    amount_micro: -1n,
    shortfall_micro: 0n,
    posted_micro: 0n,
    held_micro: 0n,
    detail: {},
    at_ms: 0n,
  })
const wires = (messages: ReturnType<typeof messagesOf>) =>
  messages.map(({ subject, id, wire }) => {
    const entries = Array.isArray(wire) ? wire : []
    return [subject, id, entries.map(one => one.id)]
  })

test('a message holds entries of one kind, in their order, and is named after its first and last', () => {
  const entries = [entry(1, 'hold'), entry(2, 'settle'), entry(3, 'hold'), entry(4, 'settle'), entry(5, 'credit')]
  expect(wires(messagesOf(entries))).toEqual([
    ['events.ledger.hold', 'hold:1..hold:3', ['hold:1', 'hold:3']],
    ['events.ledger.settle', 'settle:2..settle:4', ['settle:2', 'settle:4']],
    ['events.ledger.credit', 'credit:5..credit:5', ['credit:5']],
  ])
  expect(messagesOf([])).toEqual([])
})

test('no message is longer than the most, and none of the entries is lost', () => {
  const entries = Array.from({ length: 2 * MESSAGE_ENTRIES_MAX + 1 }, (_, seq) => entry(seq, 'settle'))
  const told = wires(messagesOf(entries)).map(([, , ids]) => ids)
  expect(told.map(ids => ids?.length)).toEqual([MESSAGE_ENTRIES_MAX, MESSAGE_ENTRIES_MAX, 1])
  expect(told.flat()).toEqual(entries.map(({ id }) => id))
})
