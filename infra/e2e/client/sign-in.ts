import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import nacl from 'tweetnacl'
import { request } from './api.ts'
import type { Gateway } from './gateway.ts'

export interface User {
  id: string
  wallet: string
  tier: string
  tierLabel: string
  tokenBalance: number
  creditsMicro: number
  creditsUsd: number
}

export interface SignedIn {
  wallet: Keypair
  user: User
  /** `svc_session=…`, to send back. */
  cookie: string
  /** The whole header, to look at. */
  setCookie: string
}

/** Signs in as a wallet app does: nonce, ed25519 over the message, verify. */
export async function signIn(gateway: Gateway, wallet: Keypair = Keypair.generate()): Promise<SignedIn> {
  const address = wallet.publicKey.toBase58()
  const asked = await request<{ nonce: string; message: string }>(gateway, null, 'POST', '/auth/nonce', { address })
  if (asked.status !== 200) throw new Error(`no nonce: ${asked.status} ${JSON.stringify(asked.body)}`)
  const { nonce, message } = asked.body
  const signature = bs58.encode(nacl.sign.detached(new TextEncoder().encode(message), wallet.secretKey))
  const answer = await request<{ user: User }>(gateway, null, 'POST', '/auth/verify', { address, signature, nonce })
  if (answer.status !== 200) throw new Error(`not signed in: ${answer.status} ${JSON.stringify(answer.body)}`)
  const setCookie = answer.headers.get('set-cookie') ?? ''
  return { wallet, user: answer.body.user, cookie: setCookie.split(';')[0] ?? '', setCookie }
}

/** Creates a key for a signed-in caller and returns the whole answer's body. */
export async function createKey(gateway: Gateway, cookie: string, options: object = {}) {
  const answer = await request<{ key: string; id: string; name: string; prefix: string; last4: string }>(
    gateway,
    { cookie },
    'POST',
    '/keys',
    options,
  )
  if (answer.status !== 200) throw new Error(`no key: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
