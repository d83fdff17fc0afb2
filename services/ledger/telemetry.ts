import type { Metrics } from '@tollgate/service'
import { type BrokenRow, checks } from './checks.ts'
import type { Outcome, Prepared } from './operation.ts'

export type Telemetry = ReturnType<typeof telemetry>

/** The ledger's own figures at `/metrics`. */
export function telemetry(metrics: Metrics) {
  const seconds = metrics.seconds('ledger_batch_seconds', 'time of one batch in Postgres')
  const size = metrics.gauge('ledger_batch_size', 'operations in the last batch')
  const decided = metrics.counter('ledger_operations_total', 'operations decided', ['kind', 'outcome'])
  const behind = metrics.gauge('ledger_relay_behind', 'journal entries that could be relayed and are not yet')
  const broken = metrics.gauge('ledger_audit_broken_rows', 'rows that broke a check in the last audit', ['check'])
  const audited = metrics.gauge('ledger_audit_timestamp_seconds', 'when the last audit ended')

  return {
    /** The same function, measured. */
    measured(apply: (batch: readonly Prepared[]) => Promise<Outcome[]>): typeof apply {
      return async batch => {
        const stop = seconds.startTimer()
        size.set(batch.length)
        const outcomes = await apply(batch)
        stop()
        const pairs = batch.map(({ operation: { kind } }, index) => `${kind} ${outcomes[index]?.outcome}`)
        for (const pair of new Set(pairs)) {
          const [kind = '', outcome = ''] = pair.split(' ')
          decided.inc({ kind, outcome }, pairs.filter(other => other === pair).length)
        }
        return outcomes
      }
    },
    relayed(left: bigint): void {
      behind.set(Number(left))
    },
    audited(rows: readonly BrokenRow[]): void {
      for (const { name } of checks) broken.set({ check: name }, rows.filter(({ check }) => check === name).length)
      audited.setToCurrentTime()
    },
  }
}
