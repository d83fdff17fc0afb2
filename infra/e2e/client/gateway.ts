/** What a running stack tells of itself in `.local/gateway.json`. */
export interface Gateway {
  router: string
  appOrigin: string
  nats: string
  postgres: string
  upstream: string
  chain: {
    rpc: string
    mint: string
    decimals: number
    treasury: string
    payer: { address: string; secretKey: string }
  }
  services: Record<string, { pid: number; url: string | null }[]>
}
