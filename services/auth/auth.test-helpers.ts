import { type Bus, connectBus } from '@tollgate/bus'
import { type BusUser, ledger, tokenBalance } from '@tollgate/contracts'
import { session } from '@tollgate/db/session'
import { type AskOptions, nats, postgres, startService } from '@tollgate/testing'
import bs58 from 'bs58'
import nacl from 'tweetnacl'
import type { User } from './users.ts'

export const APP_ORIGIN = 'https://app.example'

/** A wallet of a user: signs by a library that the service does not use. */
export interface Wallet {
  address: string
  sign(bytes: Uint8Array | string): string
}

export function newWallet(): Wallet {
  const pair = nacl.sign.keyPair()
  return {
    address: bs58.encode(pair.publicKey),
    sign: bytes => bs58.encode(nacl.sign.detached(Buffer.from(bytes), pair.secretKey)),
  }
}

export type AuthUnderTest = Awaited<ReturnType<typeof startAuth>>

/** The service as its own process, on its own Postgres and NATS. */
export async function startAuth(env: Record<string, string> = {}) {
  const [database, server] = await Promise.all([postgres({ services: ['auth'] }), nats()])
  const service = await startService('auth', {
    APP_ORIGIN,
    NATS_URL: server.url,
    NATS_PASSWORD: server.as('auth').password,
    DATABASE_URL: database.urls.auth.runtime,
    ...env,
  })
  const buses: Bus[] = []
  const as = async (user: BusUser) => {
    const bus = await connectBus({ ...server.as(user), user, name: `test as ${user}` })
    buses.push(bus)
    return bus
  }
  return {
    ...service,
    nats: server,
    as,
    sql: (statement: string) => session(database.urls.auth.owner, run => run(statement)),
    /** Asks for a nonce and signs what came back. */
    async signed(wallet: Wallet, options: AskOptions = {}) {
      const asked = await service.ask<{ nonce: string; message: string }>('POST', '/auth/nonce', {
        body: { address: wallet.address },
        ...options,
      })
      if (asked.status !== 200) throw new Error(`no nonce: ${asked.status}`)
      const { nonce, message } = asked.body
      return { address: wallet.address, nonce, message, signature: wallet.sign(message) }
    },
    verify: (body: object, options: AskOptions = {}) =>
      service.ask<{ user: User }>('POST', '/auth/verify', { body, ...options }),
    async stop() {
      await service.stop()
      await Promise.all(buses.map(bus => bus.close()))
      await Promise.all([database.stop(), server.stop()])
    },
  }
}

/** Stand-ins for the two services that auth asks; the tests of those services hold them against the contract. */
export async function serveBalances(auth: AuthUnderTest, { postedMicro = 0n, tokenRaw = 0n } = {}) {
  const [ledgerBus, chainBus] = await Promise.all([auth.as('ledger'), auth.as('chain-watcher')])
  ledgerBus.serve(ledger.balance, () => ({ postedMicro, heldMicro: 0n, availableMicro: postedMicro }))
  chainBus.serve(tokenBalance, () => ({ status: 'ok', balanceRaw: tokenRaw, decimals: 6 }))
}

/** The token of the cookie that an answer sets, and the cookie's attributes. */
export function cookieOf({ headers }: { headers: Headers }) {
  const [pair = '', ...attributes] = (headers.get('set-cookie') ?? '').split('; ')
  return { token: pair.slice(pair.indexOf('=') + 1), name: pair.split('=')[0], attributes: attributes.sort() }
}
