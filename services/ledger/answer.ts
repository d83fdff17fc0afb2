import type { ledger, ReplyOf } from '@tollgate/contracts'
import type { Outcome } from './operation.ts'

type Refused = Extract<ReplyOf<typeof ledger.hold>, { status: 'refused' }>

/** The contract's reply to an outcome: `done` says it in the words of the question, anything else is the refusal. */
export function answer<Done>(outcome: Outcome, done: (outcome: Outcome) => Done): Done | Refused {
  if (outcome.outcome === 'done') return done(outcome)
  if (outcome.outcome === 'skipped') throw new Error('only an expiry is skipped, and nobody asks for one')
  return { status: 'refused', reason: outcome.outcome, availableMicro: outcome.availableMicro }
}
