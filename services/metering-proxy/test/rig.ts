import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectBus } from '@tollgate/bus'
import { type AccountId, IDENTITY_HEADER, type KeyId, ledger, newId, type ReplyOf } from '@tollgate/contracts'
import { signIdentity } from '@tollgate/identity'
import { nats, postgres, startService } from '@tollgate/testing'

/** Prices of every model of a rig unless it says otherwise: 1 and 2 micro-USD a token. */
export const PRICES = { inMicro: 1_000_000, outMicro: 2_000_000 }

export interface RigModel {
  /** Base URLs of its routes, in order. */
  readonly urls: readonly string[]
  /** Beside the prices and the sizes. */
  readonly entry?: Record<string, unknown>
  readonly provider?: Record<string, unknown>
}

export interface Caller {
  readonly acct: AccountId
  readonly key?: KeyId
  readonly models?: string[] | null
}

const SECRET = 'identity of a test'

/** A metering proxy and a ledger, as processes, on a NATS and a Postgres of their own, in front of the given upstreams. */
export async function startRig(models: Record<string, RigModel>, env: Record<string, string> = {}) {
  const [server, database] = await Promise.all([nats(), postgres({ services: ['ledger'] })])
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-metering-'))
  const catalogueFile = join(folder, 'models.json')
  writeFileSync(catalogueFile, JSON.stringify(catalogueOf(models)))
  const password = (user: 'ledger' | 'metering-proxy') => ({
    NATS_URL: server.url,
    NATS_PASSWORD: server.as(user).password,
  })
  const startLedger = () =>
    startService('ledger', { ...password('ledger'), DATABASE_URL: database.urls.ledger.runtime })
  const startProxy = () =>
    startService('metering-proxy', {
      ...password('metering-proxy'),
      IDENTITY_SECRETS: SECRET,
      MODELS_FILE: catalogueFile,
      BUN_CONFIG_MAX_HTTP_REQUESTS: '20000',
      ...env,
    })
  const running = { ledger: await startLedger(), proxy: await startProxy() }
  const buses = await Promise.all(
    (['billing', 'keys'] as const).map(user =>
      connectBus({ url: server.url, user, password: server.as(user).password, name: `test ${user}` }),
    ),
  )
  const [billing, keys] = buses
  if (!billing || !keys) throw new Error('no bus')

  async function credit(acct: AccountId, amountMicro: bigint): Promise<void> {
    const signature = newId('intent')
    const detail = {
      v: 1,
      network: 'test',
      mint: 'm',
      treasury: 't',
      signature,
      intent: 'i',
      tokenRaw: '1',
      price: '1',
    } as const
    await billing?.call(ledger.credit, { id: `credit:${signature}`, account: acct, amountMicro, detail })
  }

  return {
    nats: server,
    running,
    startLedger,
    startProxy,
    get url() {
      return running.proxy.url
    },
    /** A new account with this much credit. */
    async account(amountMicro: bigint): Promise<Caller> {
      const acct = newId('account')
      if (amountMicro > 0n) await credit(acct, amountMicro)
      return { acct }
    },
    credit,
    identity,
    keys,
    balance: (acct: AccountId): Promise<ReplyOf<typeof ledger.balance>> =>
      billing.call(ledger.balance, { account: acct }),
    history: (acct: AccountId) =>
      billing.call(ledger.history, {
        account: acct,
        kinds: ['settle', 'release', 'expire', 'hold'],
        before: null,
        limit: 200,
      }),
    /** Sends as the router does: with the identity of the caller. */
    send(caller: Caller, path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
      return fetch(`${running.proxy.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        ...init,
        headers: { [IDENTITY_HEADER]: identity(caller), 'content-type': 'application/json', ...init.headers },
        ...(body !== undefined && {
          body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
        }),
      })
    },
    chat(caller: Caller, body: object, init: RequestInit = {}): Promise<Response> {
      return this.send(
        caller,
        '/v1/chat/completions',
        { messages: [{ role: 'user', content: 'Tell.' }], ...body },
        init,
      )
    },
    /** A figure of the proxy's `/metrics`. */
    async gauge(name: string): Promise<number> {
      const text = await (await fetch(`${running.proxy.url}/metrics`)).text()
      return Number(new RegExp(`^${name}(?:{[^}]*})? ([0-9.e+-]+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
    },
    async stop(): Promise<void> {
      await Promise.all(buses.map(bus => bus.close()))
      await Promise.all([running.proxy.stop(), running.ledger.stop()])
      await Promise.all([server.stop(), database.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Rig = Awaited<ReturnType<typeof startRig>>

function identity({ acct, key, models }: Caller): string {
  const claims = { aud: 'metering-proxy', rid: newId('request'), acct, usr: newId('user'), session: null }
  return signIdentity({ ...claims, key: key ?? null, models: models ?? null }, { secrets: [SECRET] }, Date.now())
}

/** Each route of each model gets a provider of its own. */
function catalogueOf(models: Record<string, RigModel>) {
  const providers: Record<string, object> = {}
  const entries = Object.entries(models).map(([id, { urls, entry, provider }], index) => ({
    id,
    ...PRICES,
    contextTokens: 100_000,
    maxOutputTokens: 1_000,
    routes: urls.map((baseUrl, order) => {
      const name = `provider-${index}-${order}`
      providers[name] = { kind: 'openai', baseUrl, byteMultiplier: 1, ...provider }
      return { provider: name, model: id, order }
    }),
    ...entry,
  }))
  return { providers, models: entries }
}

/** The data of each event of a stream, comments left out. */
export function dataOf(stream: string): string[] {
  return stream
    .split('\n\n')
    .filter(event => event.startsWith('data: '))
    .map(event => event.slice('data: '.length))
}
