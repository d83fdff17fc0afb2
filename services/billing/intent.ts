import type { Intent, WireOf } from '@tollgate/contracts'
import { writeDecimal } from './decimal.ts'
import { PRICE_DECIMALS, paymentUrl } from './quote.ts'
import type { IntentRow } from './store.ts'

const MICRO_DECIMALS = 6

/** The words that a wallet shows with a payment request, where the operator set them. */
export interface PayTexts {
  label: string
  message: string
}

/** An intent as its owner sees it (interface.md, "Top-up intent"). */
export function intentView(row: IntentRow, texts: PayTexts): WireOf<typeof Intent> {
  const { reference, tokenRaw, decimals, mint, treasury, network, blockhash, lastValidBlockHeight } = row
  return {
    reference,
    url: paymentUrl({ recipient: treasury, mint, reference, tokenRaw, decimals, ...texts }),
    tokenAmount: writeDecimal(tokenRaw, decimals),
    tokenAmountRaw: tokenRaw.toString(),
    decimals,
    mint,
    recipient: treasury,
    network,
    usdAmount: writeDecimal(row.usdMicro, MICRO_DECIMALS),
    // For display; the quote was made from the exact price.
    price: Number(writeDecimal(row.priceScaled, PRICE_DECIMALS)),
    expiresAt: row.expiresAt.getTime(),
    blockhash,
    lastValidBlockHeight,
  }
}
