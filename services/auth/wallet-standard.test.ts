import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createSignInMessage, parseSignInMessage, verifySignIn } from '@solana/wallet-standard-util'
import bs58 from 'bs58'
import { type AuthUnderTest, newWallet, serveBalances, startAuth, type Wallet } from './auth.test-helpers.ts'

/** Against the library that wallets and apps use for `solana:signIn`, with nothing of ours between. */
let auth: AuthUnderTest
beforeAll(async () => {
  auth = await startAuth()
  await serveBalances(auth)
}, 30_000)
afterAll(() => auth.stop())

/** What an app hands to `solana:signIn`: the fields of the text that the service gave out. */
async function asked(wallet: Wallet) {
  const { nonce, message } = await auth.signed(wallet)
  const input = parseSignInMessage(Buffer.from(message))
  if (!input) throw new Error('the library can’t read the text')
  return { nonce, message, input }
}

/** What a wallet gives back after it built the text itself. */
const outputOf = (wallet: Wallet, signedMessage: Uint8Array) => ({
  account: { address: wallet.address, publicKey: bs58.decode(wallet.address), chains: [], features: [] },
  signedMessage,
  signature: bs58.decode(wallet.sign(signedMessage)),
})

const requestOf = (nonce: string, address: string, output: ReturnType<typeof outputOf>) => ({
  address,
  nonce,
  signature: bs58.encode(output.signature),
  signedMessage: bs58.encode(output.signedMessage),
})

test('a wallet that builds the text from its fields builds ours, byte for byte, and signs in', async () => {
  const wallet = newWallet()
  const { nonce, message, input } = await asked(wallet)
  const signedMessage = createSignInMessage({ ...input, domain: input.domain, address: input.address })
  expect(Buffer.from(signedMessage).toString()).toBe(message)
  const output = outputOf(wallet, signedMessage)
  expect(verifySignIn(input, output)).toBe(true)
  expect((await auth.verify(requestOf(nonce, wallet.address, output))).status).toBe(200)
})

test('the library takes an attacker’s signature over a victim’s text; the service does not', async () => {
  const [victim, attacker] = [newWallet(), newWallet()]
  const { nonce, message, input } = await asked(victim)
  const output = outputOf(attacker, Buffer.from(message))
  expect(verifySignIn(input, output)).toBe(true)
  expect((await auth.verify(requestOf(nonce, victim.address, output))).status).toBe(401)
})

test('a text that was changed in any field is refused', async () => {
  const changes = [
    { domain: 'evil.example' },
    { address: newWallet().address },
    { statement: 'Sign in.' },
    { uri: 'https://evil.example' },
    { version: '2' },
    { chainId: 'mainnet' },
    { nonce: '0'.repeat(32) },
    { issuedAt: new Date(0).toISOString() },
    { expirationTime: '2999-01-01T00:00:00.000Z' },
    { notBefore: '2999-01-01T00:00:00.000Z' },
    { requestId: 'x' },
    { resources: ['https://evil.example'] },
  ]
  for (const change of changes) {
    const wallet = newWallet()
    const { nonce, input } = await asked(wallet)
    const output = outputOf(wallet, createSignInMessage({ ...input, ...change }))
    const { status } = await auth.verify(requestOf(nonce, wallet.address, output))
    expect({ change, status }).toEqual({ change, status: 401 })
  }
})
