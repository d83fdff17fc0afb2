/**
 * `npm run --silent key`: a new wallet signs in to the running local stack, pays 10 USD on its chain and makes an API key,
 * which is all that is printed. What a newcomer would do with a wallet app.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Gateway } from './client/gateway.ts'
import { topUp } from './client/pay.ts'
import { createKey, signIn } from './client/sign-in.ts'

const AMOUNT_USD = '10'

const file = join(process.env.LOCAL_DIR || '.local', 'gateway.json')
if (!existsSync(file)) {
  console.error(`No stack runs here (there is no ${file}): npm start`)
  process.exit(1)
}
const gateway: Gateway = JSON.parse(readFileSync(file, 'utf8'))
const signedIn = await signIn(gateway)
await topUp(gateway, signedIn, AMOUNT_USD)
const { key } = await createKey(gateway, signedIn.cookie, { name: 'quick start' })
console.log(key)
