import { Value } from '@sinclair/typebox/value'
import type { Bus } from '@tollgate/bus'
import { AccountId, ledger, topupCredited } from '@tollgate/contracts'
import type { Log, Metrics } from '@tollgate/service'
import { writeDecimal } from './decimal.ts'
import { assess, attribute, type SeenPayment } from './matching.ts'
import { PRICE_DECIMALS } from './quote.ts'
import { askedOf, type IntentRow, type PaymentRow, receivedOf, type SettlementRow, type Store } from './store.ts'

export interface SettleOptions {
  store: Store
  bus: Bus
  log: Log
  metrics: Metrics
}

/** A claim is lost at most to one other; a third look is never needed. */
const LOOKS_MAX = 3
const ONCE = { once: true } as const

export type Settler = ReturnType<typeof createSettler>

/**
 * From a payment seen to credits in the ledger, in steps that each may be repeated: record it, look at the intent's
 * payments together, claim the intent, credit the ledger by the claim, say so. Whoever finds the steps unfinished
 * (a redelivered event, a verify, the sweep) goes on where they stand.
 */
export function createSettler({ store, bus, log, metrics }: SettleOptions) {
  const credits = metrics.counter('topups_credited_total', 'top-ups that the ledger has')
  const strays = metrics.counter('payments_unassigned_total', 'payments that name no intent, or several', ['state'])

  async function seen(payment: SeenPayment): Promise<void> {
    const attribution = attribute(payment, await store.named(payment))
    await store.record(payment, attribution)
    if (attribution.intent) await settle(attribution.intent.id)
    else {
      strays.inc({ state: attribution.state })
      log.warn({ signature: payment.signature, state: attribution.state }, 'a payment waits for the operator')
    }
  }

  /** Brings an intent as far as its payments allow. */
  async function settle(intentId: string): Promise<void> {
    for (let look = 0; look < LOOKS_MAX; look++) {
      const found = await store.account(intentId)
      if (!found) return
      const { intent, payments, settlement } = found
      const { states, claim } = assess(askedOf(intent), payments.map(receivedOf), settlement?.signatures ?? null)
      if (!settlement && claim) {
        await store.claim(intentId, claim)
        // Won or lost, the row that stands decides: read it.
        continue
      }
      if (settlement && !settlement.creditedAt && !stands(settlement, payments)) {
        // It waits for its payments to land again; they keep their states, and others of the intent get theirs.
        for (const signature of settlement.signatures) states.delete(signature)
      } else if (settlement) await finish(intent, settlement)
      // "credited" is written last: until the ledger has it, the payment still has work to be done.
      await store.mark(states)
      return
    }
  }

  async function finish(intent: IntentRow, settlement: SettlementRow): Promise<void> {
    const account = Value.Decode(AccountId, intent.account)
    const { signature, amountMicro } = settlement
    if (!settlement.creditedAt) {
      const detail = {
        v: 1 as const,
        network: intent.network,
        mint: intent.mint,
        treasury: intent.treasury,
        signature,
        intent: intent.id,
        tokenRaw: settlement.receivedRaw.toString(),
        price: writeDecimal(intent.priceScaled, PRICE_DECIMALS),
      }
      // Once: the payment may vanish while the ledger is away, so each try begins with a look at it.
      const reply = await bus.call(ledger.credit, { id: `credit:${signature}`, account, amountMicro, detail }, ONCE)
      // The same claim is the same content: a refusal means that somebody else wrote under our id.
      if (reply.status !== 'credited') throw new Error(`the ledger refused credit:${signature}: ${reply.reason}`)
      await store.credited(intent.id)
      credits.inc()
      log.info({ intent: intent.id, signature, amountMicro: Number(amountMicro) }, 'a top-up was credited')
    }
    if (!settlement.publishedAt) {
      const fact = { v: 1 as const, account, intent: intent.id, signature, amountMicro, at: Date.now() }
      await bus.publish(topupCredited, fact, { id: `topup:${signature}` })
      await store.published(intent.id)
    }
  }

  async function vanished(signature: string): Promise<void> {
    const payment = await store.vanish(signature)
    if (!payment) return
    if (payment.state === 'credited') log.error({ signature }, 'a credited payment vanished from the chain')
    if (payment.intent) await settle(payment.intent)
  }

  return { seen, settle, vanished }
}

/** Whether all that was claimed is still on the chain: what vanished is not settled until it lands again. */
function stands({ signatures }: SettlementRow, payments: readonly PaymentRow[]): boolean {
  return payments.every(({ signature, settled }) => settled || !signatures.includes(signature))
}
