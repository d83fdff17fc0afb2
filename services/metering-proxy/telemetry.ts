import type { Metrics } from '@tollgate/service'
import type { Outcome } from './charge.ts'
import type { FailureKind } from './providers/failure.ts'

/** The service's figures: what is in work, how requests end, how providers do. */
export interface Telemetry {
  /** A provider was asked; its answer began, or why it did not. */
  attempted(route: string, result: FailureKind | 'answered', seconds: number): void
  /** A part of a request is done, which began at this time of `performance.now`. */
  took(part: 'hold' | 'settle' | 'whole', since: number): void
  /** A request was charged. */
  charged(model: string, bill: { outcome: Outcome; estimated: boolean; costMicro: bigint }): void
}

export interface InWork {
  readonly lives: { readonly count: number }
  readonly holds: { readonly count: number }
  readonly settlements: { readonly waiting: number }
}

export function openTelemetry(metrics: Metrics, { lives, holds, settlements }: InWork): Telemetry {
  metrics.reading('completions_in_work', 'requests whose work goes on, with or without their caller', () => lives.count)
  metrics.reading('holds_open', 'holds that this process has to close', () => holds.count)
  metrics.reading('settlements_waiting', 'settlements that the ledger has not answered', () => settlements.waiting)
  const attempts = metrics.counter('upstream_attempts_total', 'requests to providers', ['route', 'result'])
  const seconds = metrics.seconds('upstream_begin_seconds', "time until a provider's answer begins", ['route'])
  const parts = metrics.seconds(
    'completion_seconds',
    'the hold of a completion; the settlement and the whole of one that is answered as one body',
    ['part'],
  )
  const ended = metrics.counter('completions_charged_total', 'requests charged', ['model', 'outcome', 'usage'])
  const micro = metrics.counter('completions_charged_micro_total', 'micro-USD charged', ['model'])
  return {
    attempted(route, result, took) {
      attempts.inc({ route, result })
      if (result === 'answered') seconds.observe({ route }, took)
    },
    took(part, since) {
      parts.observe({ part }, (performance.now() - since) / 1_000)
    },
    charged(model, { outcome, estimated, costMicro }) {
      ended.inc({ model, outcome, usage: estimated ? 'estimated' : 'reported' })
      micro.inc({ model }, Number(costMicro))
    },
  }
}
