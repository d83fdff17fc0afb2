import { expect, test } from 'bun:test'
import { IDENTITY_HEADER, newId, PublicError } from '@tollgate/contracts'
import { signIdentity } from '@tollgate/identity'
import { t } from 'elysia'
import { accountOf, createLog, Secret, serviceHttp } from './index.ts'

const secrets = { secrets: ['test secret'] }
const claims = {
  aud: 'keys',
  acct: newId('account'),
  usr: newId('user'),
  key: null,
  session: null,
  models: null,
  rid: newId('request'),
}
const app = serviceHttp({ service: 'keys', secrets, log: createLog('keys', 'silent') })
  .get('/whoami', ({ request }) => accountOf(request).acct)
  .get('/listed', () => {
    throw new PublicError('insufficient_credits', 'top up')
  })
  .get('/fault', () => {
    throw new Error('password=hunter2 at 10.0.0.1')
  })
  .post('/echo', ({ body }) => body, { body: t.Object({ name: t.String({ maxLength: 5 }) }) })

function ask(path: string, init: RequestInit & { identity?: string | null } = {}) {
  const identity = init.identity === undefined ? signIdentity(claims, secrets, Date.now()) : init.identity
  const headers = new Headers(init.headers)
  if (identity) headers.set(IDENTITY_HEADER, identity)
  return app.handle(new Request(`http://keys.internal${path}`, { ...init, headers }))
}

async function error(answer: Promise<Response>) {
  const response = await answer
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  return { status: response.status, ...error }
}

test('a call that the router did not sign for this service is answered 401, on every path', async () => {
  const forBilling = signIdentity({ ...claims, aud: 'billing' }, secrets, Date.now())
  for (const identity of [null, 'made.up', forBilling]) {
    for (const path of ['/whoami', '/nowhere']) {
      expect(await error(ask(path, { identity }))).toMatchObject({ status: 401, code: 'unauthorized' })
    }
  }
  expect(await (await ask('/whoami')).text()).toBe(claims.acct)
})

test('a public path has no account', async () => {
  const nobody = signIdentity({ ...claims, acct: null, usr: null }, secrets, Date.now())
  expect(await error(ask('/whoami', { identity: nobody }))).toMatchObject({ status: 401 })
})

test('listed errors pass as they are, faults become a generic 500 with the request id', async () => {
  expect(await error(ask('/listed'))).toEqual({ status: 402, code: 'insufficient_credits', message: 'top up' })
  const fault = await error(ask('/fault'))
  expect(fault).toMatchObject({ status: 500, code: 'internal_error' })
  expect(fault.message).toContain(claims.rid)
  expect(fault.message).not.toContain('hunter2')
})

test('a bad body is 400, names the field and does not echo what was sent', async () => {
  const json = { 'content-type': 'application/json' }
  const tooLong = await error(ask('/echo', { method: 'POST', headers: json, body: '{"name":"far too secret"}' }))
  expect(tooLong).toMatchObject({ status: 400, code: 'bad_request' })
  expect(tooLong.message).toContain('"name"')
  expect(tooLong.message).not.toContain('secret')
  for (const body of ['{', '', '[]', '"text"', 'null', '{"name":1}']) {
    expect(await error(ask('/echo', { method: 'POST', headers: json, body }))).toMatchObject({
      status: 400,
      code: 'bad_request',
    })
  }
})

test('a body is JSON whatever it is called, or nothing at all', async () => {
  const types = [
    undefined,
    'APPLICATION/JSON',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ]
  for (const type of [...types, 'application/octet-stream', 'application/xml', 'garbage']) {
    const echo = (text: string) =>
      ask('/echo', { method: 'POST', headers: type ? { 'content-type': type } : {}, body: Buffer.from(text) })
    expect(await (await echo('{"name":"n"}')).json(), type ?? 'none').toEqual({ name: 'n' })
    expect(await error(echo('name=n'))).toMatchObject({ status: 400, code: 'bad_request' })
  }
})

test('an unknown path is 404', async () => {
  expect(await error(ask('/nowhere'))).toMatchObject({ status: 404, code: 'not_found' })
})

test('a secret prints as [secret]', () => {
  const secret = new Secret('hunter2')
  expect(`${secret} ${JSON.stringify({ secret })} ${Bun.inspect(secret)}`).not.toContain('hunter2')
  expect(secret.reveal()).toBe('hunter2')
})
