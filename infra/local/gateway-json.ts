import type { ServiceName } from '@tollgate/contracts'

/** The running local chain, as it describes itself in `chain.json`. */
export interface ChainInfo {
  rpc: string
  ws: string
  genesisHash: string
  mint: string
  decimals: number
  treasury: string
  payer: { address: string; secretKey: string }
}

/** One replica. `url` is null where a service has no endpoints for others (its health port is no business of callers). */
export interface ServiceProcess {
  pid: number
  url: string | null
}

/** `.local/gateway.json`: where everything of a running stack is. What the user replaced by a setting may be null. */
export interface GatewayJson {
  router: string
  appOrigin: string
  nats: string
  postgres: string
  upstream: string | null
  chain: {
    rpc: string
    mint: string | null
    decimals: number | null
    treasury: string | null
    payer: { address: string; secretKey: string } | null
  }
  services: Record<ServiceName, ServiceProcess[]>
}
