import type { Bus } from '@tollgate/bus'
import { type Log, type Metrics, repeat } from '@tollgate/service'
import { type Chain, readChain } from './chain.ts'
import type { Config } from './config.ts'
import { createTokenAccount } from './create-account.ts'
import { examiner } from './examine.ts'
import { handlers, misconfiguredHandlers } from './handlers.ts'
import { openHints, webSocketUrl } from './hint.ts'
import type { Target } from './payment.ts'
import { expectedGenesis } from './rpc/genesis.ts'
import { openRpc } from './rpc/pool.ts'
import type { Store } from './store.ts'
import { targetOf, treasuryWatch } from './treasury.ts'
import { watcher } from './watch.ts'

/** While payments can't be accepted, the reason is looked at this often. */
const TROUBLE_CHECK_MS = 2_000

export interface OpenOptions {
  config: Config
  store: Store
  bus: Bus
  log: Log
  metrics: Metrics
}

/** Puts the watching together and starts it. Without a usable mint and treasury there is nothing to watch, only to say so. */
export function openWatch(options: OpenOptions) {
  const { config, log } = options
  const target = targetOf(config.TOKEN_MINT, config.TREASURY)
  if (!('problem' in target)) return watchTarget(options, target)
  log.error({ reason: target.problem }, 'payments can not be accepted')
  return { answers: misconfiguredHandlers(target.problem), close: async () => {} }
}

function watchTarget({ config, store, bus, log, metrics }: OpenOptions, target: Target) {
  const ending = new AbortController()
  const chain = openChain({ config, log, metrics }, ending.signal)
  const network = config.SOLANA_NETWORK
  const examine = examiner(chain, { network, target, settledAt: config.COMMITMENT })
  const watch = watcher({
    chain,
    store,
    bus,
    log,
    examine,
    network,
    tokenAccount: target.tokenAccount,
    fromSlot: config.SCAN_FROM_SLOT,
    finalityCheckMs: config.FINALITY_CHECK_MS,
    parkedRetryMs: config.PARKED_RETRY_MS,
  })
  const feePayer = config.FEE_PAYER_SECRET_KEY.reveal()
  const create = feePayer === '' ? null : () => createTokenAccount(chain, target, feePayer)
  const treasury = treasuryWatch({ chain, network, target, log, create })

  const onFault = (err: unknown) => log.warn({ err }, 'a look at the chain failed; the next one follows')
  const round = measured(watch.round, store, metrics)
  const scanning = repeat(round, { everyMs: config.SCAN_INTERVAL_MS, onFault })
  const checking = repeat(treasury.refresh, {
    everyMs: () => (treasury.state.status === 'ok' ? config.TREASURY_CHECK_MS : TROUBLE_CHECK_MS),
    onFault,
  })
  const urls = config.SOLANA_WS_URLS.length > 0 ? config.SOLANA_WS_URLS : config.SOLANA_RPC_URLS.map(webSocketUrl)
  const hints = openHints({ urls, account: target.tokenAccount, hint: scanning.soon })

  return {
    answers: handlers({ chain, store, target, examine, found: watch.found, treasury: treasury.known }),
    async close() {
      ending.abort()
      hints.close()
      await Promise.all([scanning.stop(), checking.stop()])
    },
  }
}

function openChain(
  { config, log, metrics }: Pick<OpenOptions, 'config' | 'log' | 'metrics'>,
  ended: AbortSignal,
): Chain {
  const faults = metrics.counter('rpc_faults_total', 'troubles of RPC endpoints', ['endpoint'])
  const rpc = openRpc({
    urls: config.SOLANA_RPC_URLS,
    genesisHash: expectedGenesis(config.SOLANA_NETWORK, config.EXPECTED_GENESIS_HASH),
    ended,
    onFault(endpoint, err, inARow) {
      faults.inc({ endpoint: String(endpoint) })
      if (inARow === 1) log.warn({ endpoint, err }, 'an RPC endpoint has trouble')
    },
  })
  return readChain(rpc)
}

/** A round that shows when it was last complete, and what it could not read. */
function measured(round: () => Promise<void>, store: Store, metrics: Metrics): () => Promise<void> {
  const completed = metrics.gauge('scan_round_timestamp_seconds', 'when a round of watching was last complete')
  const parked = metrics.gauge('scan_parked', 'transactions that are listed and can not be read')
  return async () => {
    await round()
    completed.setToCurrentTime()
    parked.set(await store.parked())
  }
}
