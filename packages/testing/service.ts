import { IDENTITY_HEADER, newId, type ServiceName } from '@tollgate/contracts'
import { type Identity, signIdentity } from '@tollgate/identity'
import { eventually, freePort } from '@tollgate/process'
import { root } from './tools.ts'

/** What a service answered, read. The test says what it expects the body to hold. */
export interface Answer<Body> {
  status: number
  headers: Headers
  body: Body
}

export interface TestService extends AsyncDisposable {
  url: string
  /** Asks as the router does: with a signed identity. Who calls is nobody unless said; a string body is sent as it stands. */
  ask<Body = unknown>(method: string, path: string, options?: AskOptions): Promise<Answer<Body>>
  kill9(): Promise<void>
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number>
}

export interface AskOptions {
  as?: Partial<Pick<Identity, 'acct' | 'usr' | 'key' | 'session' | 'models'>>
  body?: unknown
  headers?: Record<string, string>
}

const READY_WITHIN_MS = 20_000
const SECRET = 'identity of a test'

/** One service as its own process, alone, on a free port; ready when this resolves. Ends with this process. */
export async function startService(name: ServiceName, env: Record<string, string>): Promise<TestService> {
  const url = `http://127.0.0.1:${freePort()}`
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([process.execPath, `services/${name}/index.ts`], {
    cwd: root,
    env: { PATH, HOME, LOG_LEVEL: 'error', IDENTITY_SECRETS: SECRET, ...env, PORT: new URL(url).port, SUPERVISED: '1' },
    stdin: 'pipe',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  const ready = async () => child.exitCode !== null || (await fetch(`${url}/readyz`)).ok
  await eventually(ready, { withinMs: READY_WITHIN_MS, everyMs: 20 })
  if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode} at its start`)

  const end = (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal)
    return child.exited
  }
  return {
    url,
    ask: (method, path, options) => ask(name, method, `${url}${path}`, options),
    kill9: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: async () => void (await end('SIGTERM')),
  }
}

async function ask<Body>(
  aud: ServiceName,
  method: string,
  url: string,
  { as, body, headers }: AskOptions = {},
): Promise<Answer<Body>> {
  const nobody = { acct: null, usr: null, key: null, session: null, models: null }
  const identity = signIdentity({ aud, rid: newId('request'), ...nobody, ...as }, { secrets: [SECRET] }, Date.now())
  const response = await fetch(url, {
    method,
    headers: {
      [IDENTITY_HEADER]: identity,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const read = text === '' ? null : isJson ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body: read as Body } // see Answer
}
