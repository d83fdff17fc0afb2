import { type Bus, BusFault } from '@tollgate/bus'
import { ledger, PublicError, type ReplyOf } from '@tollgate/contracts'
import type { Account, Log } from '@tollgate/service'
import type { Model } from './catalogue.ts'
import { type Charge, openCharge } from './charge.ts'
import type { WorstCase } from './estimate.ts'
import type { Settlements } from './settlements.ts'

export interface HoldsOptions {
  readonly bus: Bus
  readonly log: Log
  readonly settlements: Settlements
  /** Life of a hold that is not extended. */
  readonly ttlMs: number
  /** Between two extensions of a hold: the work that a crash can give away. */
  readonly extendEveryMs: number
}

/** The money set aside for the requests in work. */
export interface Holds {
  /** Holds what the worst case costs. Throws the listed refusal: 402, 401 (the key was revoked), 503. */
  open(caller: Account, worst: Pick<WorstCase, 'minMicro' | 'maxMicro'>, model: Model): Promise<Charge>
  readonly count: number
  stop(): void
}

/** Long enough for a ledger that was killed to be back; a caller waits for it rather than being refused. */
const ASK = { deadlineMs: 5_000, attemptMs: 2_000 } as const
const FULL_RETRY_S = 5
const BAD_LUCK = 'the balance could not be checked just now; nothing was charged, try again'

export function openHolds({ bus, log, settlements, ttlMs, extendEveryMs }: HoldsOptions): Holds {
  const open = new Set<Charge>()

  async function hold(caller: Account, worst: Pick<WorstCase, 'minMicro' | 'maxMicro'>, model: Model): Promise<Charge> {
    if (settlements.full) {
      throw new PublicError('service_unavailable', 'charges can not be settled just now; try again', {
        retryAfterSeconds: FULL_RETRY_S,
      })
    }
    const holdId = `hold:${caller.rid}`
    const charge = (grantedMicro: bigint): Charge => {
      const opened: Charge = openCharge({
        requestId: caller.rid,
        account: caller.acct,
        holdId,
        grantedMicro,
        model: model.id,
        prices: model.prices,
        deliver: settlements.deliver,
        onClose: () => open.delete(opened),
      })
      return opened
    }
    const reply = await ask(caller, holdId, worst).catch(fault => {
      // It may have been held after all. A release frees it, or refuses it should it arrive later.
      if (fault instanceof BusFault && fault.kind !== 'invalid') void charge(0n).release()
      throw fault
    })
    if (reply.status === 'refused') throw refusal(reply, worst.minMicro)
    const opened = charge(reply.grantedMicro)
    open.add(opened)
    return opened
  }

  function ask(caller: Account, id: string, { minMicro, maxMicro }: Pick<WorstCase, 'minMicro' | 'maxMicro'>) {
    return bus.call(ledger.hold, { id, account: caller.acct, key: caller.key, minMicro, maxMicro, ttlMs }, ASK)
  }

  /** All at once, so that they travel and are written together. */
  function extendAll(): void {
    for (const charge of open) {
      bus
        .call(ledger.extend, { hold: charge.holdId, account: charge.account, ttlMs, costMicro: charge.soFarMicro }, ASK)
        .then(reply => {
          if (reply.status === 'refused' && !charge.closed) {
            log.error({ requestId: charge.requestId, reason: reply.reason, alert: true }, 'a hold was lost')
          }
        })
        .catch(err => log.warn({ err, requestId: charge.requestId }, 'a hold was not extended'))
    }
  }

  const timer = setInterval(extendAll, extendEveryMs)
  return {
    open: hold,
    get count() {
      return open.size
    },
    stop: () => clearInterval(timer),
  }
}

function refusal(reply: Extract<ReplyOf<typeof ledger.hold>, { status: 'refused' }>, neededMicro: bigint): PublicError {
  const { reason, availableMicro } = reply
  const states = `this request needs ${neededMicro} micro-USD set aside, ${availableMicro} are available`
  if (reason === 'insufficient_credits') {
    return new PublicError('insufficient_credits', `not enough credits: ${states}; top up, or lower max_tokens`)
  }
  if (reason === 'cap_reached') {
    return new PublicError('insufficient_credits', `the spend cap of this key is reached: ${states} under the cap`)
  }
  if (reason === 'key_closed') return new PublicError('unauthorized', 'this key was revoked')
  return new PublicError('service_unavailable', BAD_LUCK, { retryAfterSeconds: 1 })
}
