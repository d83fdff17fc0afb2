import { expect, test } from 'bun:test'
import { KEY_USED_SUBJECT, newId } from '@tollgate/contracts'
import { createKeyUsage } from './key-usage.ts'

function usageOverBus() {
  const state = { connected: true, reports: [] as { subject: string; used: { key: string; at: number }[] }[] }
  const usage = createKeyUsage({
    get connected() {
      return state.connected
    },
    notify: (subject, _schema, payload) => void state.reports.push({ subject, ...(payload as { used: [] }) }),
  })
  return { usage, state }
}

test('a key is reported once a report with its last use, and not again until it is used again', () => {
  const { usage, state } = usageOverBus()
  const key = newId('key')
  usage.used(key, 1)
  usage.used(key, 2)
  usage.flush()
  usage.flush()
  expect(state.reports).toEqual([{ subject: KEY_USED_SUBJECT, used: [{ key, at: 2 }] }])
  usage.stop()
})

test('a report holds what its contract allows, uses wait while NATS is away, and the end reports the rest', () => {
  const { usage, state } = usageOverBus()
  state.connected = false
  for (let n = 0; n < 2_500; n++) usage.used(newId('key'), n)
  usage.flush()
  expect(state.reports).toEqual([])
  state.connected = true
  usage.stop()
  expect(state.reports.map(({ used }) => used.length)).toEqual([1_000, 1_000, 500])
})
