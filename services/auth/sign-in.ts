import { hashSession, newSessionToken, PublicError, type VerifySignInRequest, type WireOf } from '@tollgate/contracts'
import type { Account } from '@tollgate/service'
import type { EndSessions } from './end-sessions.ts'
import { encloses } from './envelope.ts'
import { isOrigin } from './message.ts'
import type { Nonces } from './nonces.ts'
import { isSigned } from './signature.ts'
import type { Store } from './store.ts'
import type { ShowUser, User } from './users.ts'
import { bytesOf, publicKeyOf, signatureOf } from './wallet.ts'

export interface SignInParts {
  nonces: Nonces
  store: Pick<Store, 'ensureUser' | 'openSession' | 'endSession'>
  showUser: ShowUser
  endSessions: EndSessions
  /** Named by a sign-in whose request carries no origin. */
  appOrigin: string
}

export type VerifyRequest = WireOf<typeof VerifySignInRequest>

/** What came with the request: the page's origin (the router lets only listed ones through), and a session that it replaces. */
export interface SignInContext {
  origin: string | null
  replaces: Pick<Account, 'usr' | 'session'> | null
}

export interface SignedIn {
  user: User
  /** For the cookie; kept nowhere. */
  token: string
}

export type SignIn = ReturnType<typeof signIn>

/** Sign-in with a wallet (interface.md, "Wallet session"). */
export function signIn({ nonces, store, showUser, endSessions, appOrigin }: SignInParts) {
  const originOf = (context: Pick<SignInContext, 'origin'>) => {
    const origin = context.origin ?? appOrigin
    if (!isOrigin(origin)) throw new PublicError('forbidden', 'this origin may not sign in')
    return origin
  }

  return {
    /** A nonce for the wallet, and the text to sign with it. */
    async nonce(address: string, context: Pick<SignInContext, 'origin'>): Promise<{ nonce: string; message: string }> {
      publicKeyFrom(address)
      return nonces.give({ address, origin: originOf(context) })
    },

    /**
     * Opens a session for who signed the text. The nonce is used up first, also by a wrong signature: an attempt is never
     * repeatable, and its owner asks for another. Malformed requests are 400 and use nothing; all refusals are one 401.
     */
    async verify(request: VerifyRequest, context: SignInContext): Promise<SignedIn> {
      const { address, nonce } = request
      const publicKey = publicKeyFrom(address)
      const signature = signatureOf(request.signature)
      if (!signature) throw new PublicError('bad_request', 'signature must be 64 bytes in base58')
      const wrapped = wrappedFrom(request.signedMessage)

      const message = await nonces.take({ nonce, address, origin: originOf(context) })
      if (message === null) throw refused()
      const text = Buffer.from(message)
      if (wrapped && !encloses(wrapped, text, publicKey)) throw refused()
      if (!isSigned({ publicKey, bytes: wrapped ?? text, signature })) throw refused()

      return open(address, context)
    },
  }

  /** The balances are asked for before there is a session: when they can't be had, nothing is left behind. */
  async function open(wallet: string, { replaces }: SignInContext): Promise<SignedIn> {
    const known = await store.ensureUser(wallet)
    const user = await showUser(known)
    if (replaces?.session) await endSessions.one(replaces.usr, replaces.session)
    const token = newSessionToken()
    await endSessions.announce(await store.openSession(known.id, hashSession(token)))
    return { user, token }
  }
}

function publicKeyFrom(address: string): Uint8Array {
  const key = publicKeyOf(address)
  if (!key) throw new PublicError('bad_request', 'address must be a wallet address: a 32-byte public key in base58')
  return key
}

function wrappedFrom(signedMessage: string | undefined): Uint8Array | null {
  if (signedMessage === undefined) return null
  const bytes = bytesOf(signedMessage)
  if (!bytes) throw new PublicError('bad_request', 'signedMessage must be the signed bytes in base58')
  return bytes
}

/** One answer for a nonce that is unknown, used, too old or another's, and for a signature that is not the wallet's. */
function refused(): PublicError {
  return new PublicError('unauthorized', 'the nonce or the signature is not valid: ask for a new nonce and sign again')
}
