import type { blockhash, findPayment, ReplyOf, RequestOf, tokenBalance } from '@tollgate/contracts'
import type { Chain } from './chain.ts'
import type { Examine, Examined } from './examine.ts'
import type { SeenPayment, Target } from './payment.ts'
import { RpcRefusal, RpcUnavailable } from './rpc/faults.ts'
import type { Store } from './store.ts'
import { amountOf } from './token-account.ts'
import type { TreasuryState } from './treasury.ts'

/** A caller waits: better to say "unavailable" than to be late. */
const ANSWER_WITHIN_MS = 4_000
/** One look at a reference reads this many unknown transactions; spam beyond it only delays until the scan comes by. */
const READS_PER_LOOK = 20

type Unavailable = { status: 'unavailable'; reason: string }

export interface HandlerOptions {
  chain: Chain
  store: Store
  target: Target
  examine: Examine
  /** Keeps and tells what a look found. */
  found(signature: string, found: Examined): Promise<void>
  treasury(withinMs: number): Promise<TreasuryState>
}

/** What the service answers when it has a treasury to watch. */
export function handlers({ chain, store, target, examine, found, treasury }: HandlerOptions) {
  const names = (reference: string) => (payment: SeenPayment) =>
    payment.legs.some(leg => leg.references.includes(reference))

  const looks = sharing<SeenPayment[]>()

  async function look(signature: string): Promise<SeenPayment[]> {
    const result = await examine(signature, 'confirmed', ANSWER_WITHIN_MS)
    await found(signature, result)
    return result.status === 'paid' ? [result.payment] : []
  }

  /** Where the hint points, else the transactions that name the reference, oldest first: anyone may have sent some. */
  async function lookFor(reference: string, hint: string | null, known: ReadonlySet<string>): Promise<SeenPayment[]> {
    if (hint !== null && !known.has(hint)) {
      const hinted = (await look(hint)).filter(names(reference))
      if (hinted.length > 0) return hinted
    }
    const listed = await chain.signatures(reference, null, ANSWER_WITHIN_MS)
    const candidates = listed.filter(({ failed, signature }) => !failed && !known.has(signature)).toReversed()
    const payments: SeenPayment[] = []
    for (const { signature } of candidates.slice(0, READS_PER_LOOK)) payments.push(...(await look(signature)))
    return payments.filter(names(reference))
  }

  async function payments(reference: string, hint: string | null): Promise<SeenPayment[]> {
    const known = await store.byReference(reference)
    const signatures = new Set(known.map(({ signature }) => signature))
    const fresh = await lookFor(reference, hint, signatures).catch((fault: unknown) => {
      // Without a node, what is known is better than nothing.
      if (known.length > 0 && isChainTrouble(fault)) return []
      throw fault
    })
    return [...known, ...fresh]
  }

  return {
    blockhash: (): Promise<ReplyOf<typeof blockhash>> =>
      orUnavailable(async () => ({ status: 'ok', ...(await chain.latestBlockhash(ANSWER_WITHIN_MS)) })),

    treasury: () => treasury(ANSWER_WITHIN_MS),

    /** What is known, and what the chain shows beyond that. Who asks the same at once shares one look. */
    payment: ({ reference, signature }: RequestOf<typeof findPayment>): Promise<ReplyOf<typeof findPayment>> =>
      orUnavailable(async () => ({
        status: 'ok',
        payments: await looks.share(`${reference} ${signature}`, () => payments(reference, signature)),
      })),

    tokenBalance: ({ wallet }: RequestOf<typeof tokenBalance>): Promise<ReplyOf<typeof tokenBalance>> =>
      orUnavailable(async () => {
        const state = await treasury(ANSWER_WITHIN_MS)
        if (state.status !== 'ok') return { status: 'unavailable', reason: state.reason }
        const accounts = await chain.tokenAccounts(wallet, target.mint, ANSWER_WITHIN_MS)
        const balanceRaw = accounts.reduce((sum, { address, account }) => sum + amountOf(address, account), 0n)
        return { status: 'ok', balanceRaw, decimals: state.decimals }
      }),
  }
}

/** What the service answers without a treasury: the chain's blockhash is no use then either. */
export function misconfiguredHandlers(reason: string) {
  const unavailable = async (): Promise<Unavailable> => ({ status: 'unavailable', reason })
  return {
    blockhash: unavailable,
    treasury: (): TreasuryState => ({ status: 'misconfigured', reason }),
    payment: unavailable,
    tokenBalance: unavailable,
  }
}

/** Lets those who ask the same at the same time have the same answer. */
function sharing<T>() {
  const underWay = new Map<string, Promise<T>>()
  return {
    share(question: string, ask: () => Promise<T>): Promise<T> {
      const answer = underWay.get(question) ?? ask().finally(() => underWay.delete(question))
      underWay.set(question, answer)
      return answer
    },
  }
}

/** The chain's trouble is an answer to whoever asks, not a fault of ours. */
async function orUnavailable<T>(answer: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await answer()
  } catch (fault) {
    if (isChainTrouble(fault)) return { status: 'unavailable', reason: fault.message }
    throw fault
  }
}

function isChainTrouble(fault: unknown): fault is Error {
  return fault instanceof RpcUnavailable || fault instanceof RpcRefusal
}
