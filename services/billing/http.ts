import type { Bus } from '@tollgate/bus'
import {
  type AccountId,
  BalanceAnswer,
  IntentDetailAnswer,
  IntentList,
  IntentQuery,
  ledger,
  PublicError,
  TopupAnswer,
  TopupRequest,
  TransactionList,
  TransactionQuery,
  UsageQuery,
  usdFromMicro,
  VerifyTopupRequest,
} from '@tollgate/contracts'
import { accountOf, type ServiceHttpOptions, serviceHttp } from '@tollgate/service'
import { parseReference } from './base58.ts'
import { intentDetail } from './history.ts'
import { intentView, type PayTexts } from './intent.ts'
import type { Store } from './store.ts'
import { type createTopup, freshBlockhash } from './topup.ts'
import { BALANCE_KINDS, transactionView } from './transaction.ts'
import { usageCsv } from './usage/csv.ts'
import { daysOf } from './usage/days.ts'
import type { UsageStore } from './usage/store.ts'
import type { createVerify } from './verify.ts'

export interface BillingHttpOptions extends Omit<ServiceHttpOptions, 'service'> {
  bus: Bus
  store: Store
  usage: UsageStore
  topup: ReturnType<typeof createTopup>
  verify: ReturnType<typeof createVerify>
  texts: PayTexts
}

const PAGE = 20
const notFound = () => new PublicError('not_found', 'there is no such top-up')

/** `/billing/*`, behind the router. */
export function billingHttp({ bus, store, usage, topup, verify, texts, ...shell }: BillingHttpOptions) {
  const owned = async (account: AccountId, reference: string) => {
    const found = await store.intent(parseReference(reference))
    if (!found || found.intent.account !== account) throw notFound()
    return found.intent
  }

  return serviceHttp({ service: 'billing', ...shell })
    .post(
      '/billing/topup',
      async ({ request, body }) => ({ intent: intentView(await topup(accountOf(request).acct, body.amount), texts) }),
      { body: TopupRequest, response: TopupAnswer },
    )
    .post('/billing/verify', ({ request, body }) => verify(accountOf(request).acct, body.reference, body.signature), {
      body: VerifyTopupRequest,
    })
    .get(
      '/billing/balance',
      async ({ request }) => {
        const balance = await bus.call(ledger.balance, { account: accountOf(request).acct })
        return {
          creditsMicro: Number(balance.postedMicro),
          heldMicro: Number(balance.heldMicro),
          availableMicro: Number(balance.availableMicro),
          creditsUsd: usdFromMicro(balance.postedMicro),
        }
      },
      { response: BalanceAnswer },
    )
    .get(
      '/billing/intents',
      async ({ request, query }) => {
        const limit = Number(query.limit ?? PAGE)
        const before = query.before === undefined ? null : parseReference(query.before)
        const found = await store.intents(accountOf(request).acct, before, limit)
        const data = found.map(account => intentDetail(account, texts, Date.now()))
        return { data, next: found.length < limit ? null : (data.at(-1)?.reference ?? null) }
      },
      { query: IntentQuery, response: IntentList },
    )
    .get(
      '/billing/intents/:reference',
      async ({ request, params }) => {
        const { id } = await owned(accountOf(request).acct, params.reference)
        const found = await store.account(id)
        if (!found) throw notFound()
        return { intent: intentDetail(found, texts, Date.now()) }
      },
      { response: IntentDetailAnswer },
    )
    .post(
      '/billing/intents/:reference/blockhash',
      async ({ request, params }) => {
        const { acct } = accountOf(request)
        const { reference } = await owned(acct, params.reference)
        const row = await store.refresh(reference, acct, await freshBlockhash(bus))
        if (!row) throw notFound()
        return { intent: intentView(row, texts) }
      },
      { response: TopupAnswer },
    )
    .get(
      '/billing/transactions',
      async ({ request, query }) => {
        const { entries, next } = await bus.call(ledger.history, {
          account: accountOf(request).acct,
          kinds: BALANCE_KINDS,
          before: query.before ?? null,
          limit: Number(query.limit ?? PAGE),
        })
        return { data: entries.flatMap(entry => transactionView(entry) ?? []), next }
      },
      { query: TransactionQuery, response: TransactionList },
    )
    .get(
      '/billing/usage',
      async ({ request, query, set }) => {
        const { model = null, key = null } = query
        const rows = await usage.read({ account: accountOf(request).acct, ...daysOf(query, Date.now()), model, key })
        if (query.format !== 'csv') return { data: rows }
        set.headers['content-type'] = 'text/csv; charset=utf-8'
        set.headers['content-disposition'] = 'attachment; filename="usage.csv"'
        return usageCsv(rows)
      },
      { query: UsageQuery },
    )
}
