import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Keypair } from '@solana/web3.js'
import { type FaultControls, Faults } from './faults.ts'
import { faultsEndpoint } from './faults-endpoint.ts'
import { type Depths, View } from './rpc/commitment.ts'
import { httpHandler } from './rpc/http.ts'
import { Listeners } from './rpc/listen.ts'
import type { Node } from './rpc/methods.ts'
import { Subscriptions } from './rpc/subscriptions.ts'
import type { Chain } from './state/chain.ts'
import { MINT_DECIMALS } from './state/genesis.ts'
import { openChain } from './state/open.ts'
import { wallet } from './state/wallet.ts'

export type ChainOptions = {
  /** HTTP port; the WebSocket takes the next one. 0 finds a free pair. */
  port: number
  /** Where the chain lives on; without it, it ends with the process. */
  stateDir?: string | undefined
  /** Length of a slot; 0 lets slots pass only by `advanceSlots`. */
  slotMs?: number
  /** Further slots until a transaction is confirmed and finalized; 1 and 32 by default. */
  depths?: Depths
  /** Serves the faults at /faults too. */
  faultsOverHttp?: boolean
}

/** What clients need to know of a chain, as `chain.json` has it. */
export type ChainInfo = {
  rpc: string
  ws: string
  genesisHash: string
  mint: string
  decimals: number
  treasury: string
  payer: { address: string; secretKey: string }
}

export type RunningChain = ChainInfo & {
  /** Mint authority too, so tests can mint. */
  payerWallet: Keypair
  treasuryWallet: Keypair
  faults: FaultControls
  /** Lets slots pass at once; 1 produces a block. */
  advanceSlots(slots: number): void
  /** Moves the block times of later blocks, in milliseconds; slots stay. */
  shiftTime(ms: number): void
  stop(): void
}

const DEFAULT_SLOT_MS = 400
const DEFAULT_DEPTHS: Depths = { confirmed: 1, finalized: 32 }

/** Starts a chain, or continues the one in `stateDir`, and listens on 127.0.0.1. */
export function startChain(options: ChainOptions): RunningChain {
  const { stateDir = null, slotMs = DEFAULT_SLOT_MS } = options
  // Who finds the file finds the chain listening, so the last run's must not be there meanwhile.
  if (stateDir !== null) rmSync(infoPath(stateDir), { force: true })
  const chain = openChain({ stateDir, slotMs })
  const faults = new Faults()
  const view = new View(chain, options.depths ?? DEFAULT_DEPTHS, () => faults.settings.lagSlots)
  const node = { chain, view, faults }
  const subscriptions = new Subscriptions(node)
  const listeners = new Listeners(node, subscriptions)
  const controls = faultControls(node, listeners)
  const handler = httpHandler(node)
  const urls = listeners.open(options.port, options.faultsOverHttp ? faultsEndpoint(controls, handler) : handler)
  const timer = slotMs > 0 ? setInterval(() => subscriptions.tick(), slotMs) : null
  const info = { ...urls, ...describe(chain) }
  if (stateDir !== null) writeInfo(infoPath(stateDir), info)

  return {
    ...info,
    payerWallet: wallet(chain.genesis.secretKeys.payer),
    treasuryWallet: wallet(chain.genesis.secretKeys.treasury),
    faults: controls,
    advanceSlots(slots) {
      chain.advanceSlots(slots)
      subscriptions.tick()
    },
    shiftTime: ms => chain.shiftTime(ms),
    stop() {
      if (timer !== null) clearInterval(timer)
      listeners.close()
      chain.close()
    },
  }
}

function faultControls({ chain, faults }: Node, listeners: Listeners): FaultControls {
  return {
    settings: () => faults.settings,
    set: changes => faults.set(changes),
    reset: () => faults.reset(),
    rollback: signature => chain.rollback(signature),
    dropSockets: () => listeners.dropSockets(),
    goDown: ms => listeners.goDown(ms),
  }
}

function describe({ genesis }: Chain): Omit<ChainInfo, 'rpc' | 'ws'> {
  const addressOf = (secretKey: string) => wallet(secretKey).publicKey.toBase58()
  const { mint, treasury, payer } = genesis.secretKeys
  return {
    genesisHash: genesis.genesisHash,
    mint: addressOf(mint),
    decimals: MINT_DECIMALS,
    treasury: addressOf(treasury),
    payer: { address: addressOf(payer), secretKey: payer },
  }
}

function infoPath(stateDir: string): string {
  return join(stateDir, 'chain.json')
}

function writeInfo(path: string, info: ChainInfo): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(info, null, 2)}\n`)
  renameSync(`${path}.new`, path)
}
