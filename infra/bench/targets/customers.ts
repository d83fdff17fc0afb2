import type { Gateway } from '../../e2e/client/gateway.ts'
import { topUp } from '../../e2e/client/pay.ts'
import { createKey, signIn } from '../../e2e/client/sign-in.ts'

/** Enough for days of load. */
const USD = '1000'

/** A new customer as interface.md makes one: signs in with a wallet, pays on chain, creates a key. Returns the key. */
export async function createCustomer(gateway: Gateway): Promise<string> {
  const customer = await signIn(gateway)
  await topUp(gateway, customer, USD)
  return (await createKey(gateway, customer.cookie, { name: 'bench' })).key
}
