import { Value } from '@sinclair/typebox/value'
import type { Bus } from '@tollgate/bus'
import { AccountId, ledger, microFromUsdText } from '@tollgate/contracts'
import { writeDecimal } from '../decimal.ts'
import { microFor } from '../quote.ts'
import type { Listed, OperatorStore } from './store.ts'

/** Something that the operator should do otherwise; its message says what. */
export class OperatorError extends Error {}

export interface CreditRequest {
  signature: string
  /** Why, for the journal and whoever reads it. */
  text: string
  /** Instead of the worth at the quote's price. Needed where the payment names no intent. */
  usd: string | null
  /** Whom; needed where the payment names no intent. */
  account: string | null
  /** Although it was dealt with otherwise, or is not on the chain for good. */
  force: boolean
}

/** Credits a payment by an adjustment of the ledger. One payment has one adjustment: a repeated command changes nothing. */
export async function creditPayment(store: OperatorStore, bus: Bus, request: CreditRequest): Promise<string> {
  const { signature, text } = request
  const listed = await find(store, signature)
  const objection = request.force ? null : objectionTo(listed)
  if (objection !== null) throw new OperatorError(`${objection}; --force credits it all the same`)
  const amountMicro = amountOf(listed, request.usd)
  const account = accountOf(listed, request.account)
  await takeFromMatching(store, signature)
  const id = `adjust:payment_${signature}`
  const reason = `payment ${signature}: ${text}`.slice(0, 500)
  const reply = await bus.call(ledger.adjust, { id, account, amountMicro, reason })
  if (reply.status === 'refused') {
    throw new OperatorError(
      `the ledger refused: ${reply.reason}. A payment is credited once, with one amount and reason.`,
    )
  }
  if (!listed.notes.some(note => note.text === text)) {
    await store.note(signature, { text, adjustment: id, amountMicro })
  }
  return `${account} was credited ${writeDecimal(amountMicro, 6)} USD`
}

/** Notes what was done about a payment, such as a refund by hand, and takes it off the list. */
export async function notePayment(store: OperatorStore, signature: string, text: string): Promise<string> {
  await find(store, signature)
  // The note first: from then on nobody credits by mistake what this command was cut short over.
  await store.note(signature, { text })
  await takeFromMatching(store, signature)
  return `noted; ${signature} is off the list`
}

async function find(store: OperatorStore, signature: string): Promise<Listed> {
  const listed = await store.find(signature)
  if (!listed) throw new OperatorError(`no payment with the signature ${signature} was seen`)
  if (listed.payment.state === 'credited') throw new OperatorError('this payment was credited to its intent')
  return listed
}

/** Why a credit would be a mistake; null when nothing speaks against it, or it is the repeat of one that was given. */
function objectionTo({ payment, notes }: Listed): string | null {
  if (notes.some(({ adjustment }) => adjustment !== null)) return null
  const [done] = notes
  if (done) return `this payment was dealt with without a credit ("${done.text}")`
  if (payment.state === 'vanished') return 'this payment is no longer on the chain'
  if (!payment.settled) return 'this payment is not deep enough in the chain yet'
  if (payment.state === 'processing') return 'the time of this payment is not known yet'
  return null
}

async function takeFromMatching(store: OperatorStore, signature: string): Promise<void> {
  if (!(await store.take(signature)))
    throw new OperatorError('its intent has claimed this payment, to be credited for it')
}

function amountOf({ payment, intent }: Listed, usd: string | null): bigint {
  const amountMicro = usd === null ? (intent ? microFor(payment.attributedRaw, intent) : null) : microFromUsdText(usd)
  if (amountMicro === null) {
    throw new OperatorError(usd === null ? 'it names no intent: give --usd and --account' : `"${usd}" is no USD amount`)
  }
  if (amountMicro <= 0n) throw new OperatorError('it is worth less than a micro-USD')
  return amountMicro
}

function accountOf({ intent }: Listed, told: string | null): AccountId {
  const account = intent?.account ?? told
  if (intent && told !== null && told !== intent.account) {
    throw new OperatorError(`it names an intent of ${intent.account}, and goes there`)
  }
  if (account === null) throw new OperatorError('it names no intent: give --account')
  if (!Value.Check(AccountId, account)) throw new OperatorError(`"${account}" is no account`)
  return account
}
