import type { ledger } from '@tollgate/contracts'

/** Details as the metering proxy and billing send them. */
export const chargeDetail: ledger.ChargeDetail = {
  v: 1,
  requestId: 'req_1',
  model: 'm',
  route: 'r',
  promptTokens: 1,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 1,
  inMicro: 1n,
  outMicro: 1n,
  cachedInMicro: null,
  cacheWriteMicro: null,
  estimated: false,
  outcome: 'completed',
}
export const creditDetail = {
  v: 1 as const,
  network: 'devnet',
  mint: 'mint',
  treasury: 'treasury',
  signature: 'signature',
  intent: 'int_1',
  tokenRaw: '1',
  price: '1',
}
