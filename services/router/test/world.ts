import { randomBytes } from 'node:crypto'
import { type Bus, connectBus } from '@tollgate/bus'
import {
  type BusUser,
  hashKey,
  hashSession,
  KEY_USED_SUBJECT,
  KeysUsed,
  keyChanged,
  newId,
  newKeySecret,
  newSessionToken,
  type ReplyOf,
  resolveKey,
  resolveSession,
  sessionEnded,
} from '@tollgate/contracts'
import { nats, type TestNats } from '@tollgate/testing'
import { type Backend, startBackend } from './backend.ts'
import { type RouterProcess, type RouterSettings, startRouter } from './router-process.ts'

type KeyReply = Extract<ReplyOf<typeof resolveKey>, { status: 'active' }>
type SessionReply = Extract<ReplyOf<typeof resolveSession>, { status: 'active' }>

interface TestKey extends KeyReply {
  secret: string
  bearer: string
}
interface TestSession extends SessionReply {
  token: string
  cookie: string
}

/** Routers as real processes on a real NATS, with stand-ins for the services behind them. */
export interface World extends AsyncDisposable {
  nats: TestNats
  routers: readonly RouterProcess[]
  router: RouterProcess
  backend: Backend
  key(of?: Partial<KeyReply>): TestKey
  session(of?: Partial<SessionReply>): TestSession
  /** The keys service knows it no more; with `push`, routers are told. */
  revoke(key: TestKey, options?: { push: boolean }): void
  endSession(session: TestSession): void
  /** Look-ups that the keys service and auth answered. */
  lookups: { keys: string[]; sessions: string[] }
  /** Keys that routers said were used. */
  used: string[]
}

export const APP_ORIGIN = 'https://app.example'

export async function startWorld({
  routers = 1,
  ...settings
}: RouterSettings & { routers?: number } = {}): Promise<World> {
  const server = await nats()
  const backend = startBackend()
  const keys = new Map<string, KeyReply>()
  const sessions = new Map<string, SessionReply>()
  const lookups: World['lookups'] = { keys: [], sessions: [] }
  const used: string[] = []

  const keysBus = await busAs(server, 'keys')
  keysBus.serve(resolveKey, async requests => {
    lookups.keys.push(...requests.map(({ keyHash }) => keyHash))
    return requests.map(({ keyHash }) => keys.get(keyHash) ?? { status: 'unknown' as const })
  })
  keysBus.listen(KEY_USED_SUBJECT, KeysUsed, report => void used.push(...report.used.map(({ key }) => key)))
  const authBus = await busAs(server, 'auth')
  authBus.serve(resolveSession, ({ sessionHash }) => {
    lookups.sessions.push(sessionHash)
    return sessions.get(sessionHash) ?? { status: 'unknown' as const }
  })
  const started = await Promise.all(
    Array.from({ length: routers }, () =>
      startRouter({ nats: server.as('router'), services: backend.url, ...settings }),
    ),
  )
  const [router] = started
  if (!router) throw new Error('a world has a router')

  return {
    nats: server,
    routers: started,
    router,
    backend,
    lookups,
    used,
    key(of = {}) {
      const secret = newKeySecret(randomBytes(32))
      const reply: KeyReply = {
        status: 'active',
        ...accountAndUser(),
        key: newId('key'),
        models: null,
        expiresAt: null,
        ...of,
      }
      keys.set(hashKey(secret), reply)
      return { ...reply, secret, bearer: `Bearer ${secret}` }
    },
    session(of = {}) {
      const token = newSessionToken()
      const expiresAt = Date.now() + 3_600_000
      const reply: SessionReply = { status: 'active', ...accountAndUser(), session: newId('session'), expiresAt, ...of }
      sessions.set(hashSession(token), reply)
      return { ...reply, token, cookie: `svc_session=${token}` }
    },
    revoke({ key, secret }, { push } = { push: true }) {
      const keyHash = hashKey(secret)
      keys.delete(keyHash)
      if (push) keysBus.notify(keyChanged.subject, keyChanged.payload, { v: 1, key, keyHash, at: Date.now() })
    },
    endSession({ session, token }) {
      const sessionHash = hashSession(token)
      sessions.delete(sessionHash)
      authBus.notify(sessionEnded.subject, sessionEnded.payload, { v: 1, session, sessionHash, at: Date.now() })
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map(each => each.stop()))
      await Promise.all([keysBus, authBus].map(bus => bus.close().catch(() => undefined)))
      await backend.stop()
      await server.stop()
    },
  }
}

function busAs(server: TestNats, user: BusUser): Promise<Bus> {
  const { url, password } = server.as(user)
  return connectBus({ url, user, password, name: `stand-in ${user}` })
}

function accountAndUser() {
  return { account: newId('account'), user: newId('user') }
}
