import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hashSession, NONCE_BUCKET, newId, resolveSession } from '@tollgate/contracts'
import bs58 from 'bs58'
import nacl from 'tweetnacl'
import { APP_ORIGIN, type AuthUnderTest, cookieOf, newWallet, serveBalances, startAuth } from './auth.test-helpers.ts'
import { NONCE_TTL_MS, openNonces } from './nonces.ts'
import { secondWays, smallOrder } from './odd-points.test-helpers.ts'

let auth: AuthUnderTest
beforeAll(async () => {
  auth = await startAuth()
  await serveBalances(auth, { postedMicro: 1_500_000n, tokenRaw: 2_500_000n })
}, 30_000)
afterAll(() => auth.stop())

const refused = { status: 401, body: { error: { code: 'unauthorized' } } }
const malformed = { status: 400, body: { error: { code: 'bad_request' } } }
const sessionsOf = async (wallet: string) =>
  (await auth.sql(`select s.id from sessions s join users u on u.id = s.user_id where u.wallet = '${wallet}'`)).length

test('who signs the text gets a user, and a session that resolves to the same account', async () => {
  const wallet = newWallet()
  const answer = await auth.verify(await auth.signed(wallet))
  expect(answer).toMatchObject({
    status: 200,
    body: {
      user: {
        wallet: wallet.address,
        tier: 'standard',
        tierLabel: 'Standard',
        tokenBalance: 2.5,
        creditsMicro: 1_500_000,
        creditsUsd: 1.5,
      },
    },
  })
  const { name, token, attributes } = cookieOf(answer)
  expect(name).toBe('svc_session')
  expect(attributes).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=None', 'Secure'])

  const router = await auth.as('router')
  const resolved = await router.call(resolveSession, { sessionHash: hashSession(token) })
  expect(resolved).toMatchObject({ status: 'active', user: answer.body.user.id })
  expect(await router.call(resolveSession, { sessionHash: hashSession(`${token.slice(1)}A`) })).toEqual({
    status: 'unknown',
  })

  const again = await auth.verify(await auth.signed(wallet))
  expect(again.body.user.id).toBe(answer.body.user.id)
  expect(cookieOf(again).token).not.toBe(token)
})

test('neither the session’s token nor the text of a sign-in is kept in the database', async () => {
  const { token } = cookieOf(await auth.verify(await auth.signed(newWallet())))
  const rows = JSON.stringify(await auth.sql('select * from sessions'))
  expect(rows).toContain(hashSession(token))
  expect(rows).not.toContain(token)
})

test('a hundred parallel first sign-ins of one wallet make one user with one account', async () => {
  const wallet = newWallet()
  const attempts = await Promise.all(Array.from({ length: 100 }, () => auth.signed(wallet)))
  const answers = await Promise.all(attempts.map(attempt => auth.verify(attempt)))
  expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]))
  expect(new Set(answers.map(answer => answer.body.user.id)).size).toBe(1)
  expect(await auth.sql(`select 1 from users where wallet = '${wallet.address}'`)).toHaveLength(1)
  const orphans = 'select 1 from accounts a where not exists (select 1 from users u where u.account_id = a.id)'
  expect(await auth.sql(orphans)).toEqual([])
}, 30_000)

test('a thousand parallel verifies of one nonce open one session', async () => {
  const wallet = newWallet()
  const attempt = await auth.signed(wallet)
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => auth.verify(attempt)))
  expect(answers.filter(answer => answer.status === 200)).toHaveLength(1)
  expect(answers.filter(answer => answer.status === 401)).toHaveLength(999)
  expect(await sessionsOf(wallet.address)).toBe(1)
}, 30_000)

test('a replayed sign-in is refused', async () => {
  const attempt = await auth.signed(newWallet())
  expect((await auth.verify(attempt)).status).toBe(200)
  expect(await auth.verify(attempt)).toMatchObject(refused)
})

test('a nonce that is too old is refused, though its text is signed', async () => {
  const bus = await auth.as('auth')
  const fiveMinutesAgo = Date.now() - NONCE_TTL_MS
  for (const [issuedAtMs, status] of [
    [fiveMinutesAgo, 401],
    [fiveMinutesAgo + 60_000, 200],
  ] as const) {
    const nonces = openNonces(bus.bucket(NONCE_BUCKET, NONCE_TTL_MS), 'localnet', () => issuedAtMs)
    const { address, sign } = newWallet()
    const { nonce, message } = await nonces.give({ address, origin: APP_ORIGIN })
    expect(await auth.verify({ address, nonce, signature: sign(message) })).toMatchObject({ status })
  }
})

test('a wrong signature uses its nonce up', async () => {
  const wallet = newWallet()
  const attempt = await auth.signed(wallet)
  expect(await auth.verify({ ...attempt, signature: wallet.sign('something else') })).toMatchObject(refused)
  expect(await auth.verify(attempt)).toMatchObject(refused)
})

test('a nonce is good for its own wallet only, and others’ attempts leave it to its owner', async () => {
  const [victim, attacker] = [newWallet(), newWallet()]
  const attempt = await auth.signed(victim)
  const stolen = { ...attempt, address: attacker.address, signature: attacker.sign(attempt.message) }
  expect(await auth.verify(stolen)).toMatchObject(refused)
  expect((await auth.verify(attempt)).status).toBe(200)
})

test('an attacker’s signature over a text that names the victim is refused', async () => {
  const victim = newWallet()
  const attempt = await auth.signed(victim)
  expect(await auth.verify({ ...attempt, signature: newWallet().sign(attempt.message) })).toMatchObject(refused)
  expect(await sessionsOf(victim.address)).toBe(0)
})

test('a nonce is good on the page that it was asked for, and on no other', async () => {
  const wallet = newWallet()
  const other = { headers: { origin: 'https://marketing.example' } }
  const app = { headers: { origin: APP_ORIGIN } }
  const fromOther = await auth.signed(wallet, other)
  expect(fromOther.message).toStartWith('marketing.example wants you to sign in with your Solana account:\n')
  expect(await auth.verify(fromOther, app)).toMatchObject(refused)
  expect(await auth.verify(fromOther)).toMatchObject(refused)
  expect((await auth.verify(fromOther, other)).status).toBe(200)
  const fromApp = await auth.signed(wallet, app)
  expect(await auth.verify(fromApp, other)).toMatchObject(refused)
  // A client that is no browser names no origin: it signs in to the app.
  expect((await auth.verify(fromApp)).status).toBe(200)
})

test('an origin that is none is refused', async () => {
  for (const origin of ['null', 'app.example', `${APP_ORIGIN}/`, 'https://APP.example', 'ftp://app.example']) {
    const asked = await auth.ask('POST', '/auth/nonce', { body: { address: newWallet().address }, headers: { origin } })
    expect({ origin, status: asked.status }).toEqual({ origin, status: 403 })
  }
})

test('unknown and odd nonces are refused', async () => {
  const attempt = await auth.signed(newWallet())
  for (const nonce of [
    '0'.repeat(32),
    'A'.repeat(22),
    attempt.nonce.toUpperCase(),
    ` ${attempt.nonce}`,
    '>',
    '*',
    'a b',
  ]) {
    expect(await auth.verify({ ...attempt, nonce })).toMatchObject(refused)
  }
})

test('a signature raised by the group’s order is refused, though tweetnacl takes it', async () => {
  const attempt = await auth.signed(newWallet())
  const raised = raiseS(bs58.decode(attempt.signature))
  const text = Buffer.from(attempt.message)
  expect(nacl.sign.detached.verify(text, raised, bs58.decode(attempt.address))).toBe(true)
  expect(await auth.verify({ ...attempt, signature: bs58.encode(raised) })).toMatchObject(refused)
})

test('addresses that are no wallet’s are malformed, at both steps', async () => {
  const wallet = newWallet()
  const attempt = await auth.signed(wallet)
  const addresses = [
    '',
    'x',
    '0OIl',
    ` ${wallet.address}`,
    `${wallet.address}\n`,
    `1${wallet.address}`,
    // A Cyrillic letter that looks like one of the alphabet.
    `${wallet.address.slice(0, -1)}а`,
    bs58.encode(new Uint8Array(31).fill(7)),
    bs58.encode(new Uint8Array(33).fill(7)),
    // The System Program is one of them, and so is the point that one forged signature fits for every text.
    ...[...smallOrder, ...secondWays].map(point => bs58.encode(point)),
  ]
  for (const address of addresses) {
    expect(await auth.ask('POST', '/auth/nonce', { body: { address } })).toMatchObject(malformed)
    expect(await auth.verify({ ...attempt, address })).toMatchObject(malformed)
  }
})

test('malformed signatures and bodies are 400, and leave the nonce alone', async () => {
  const attempt = await auth.signed(newWallet())
  const { signature } = attempt
  const bytes = (count: number) => bs58.encode(new Uint8Array(count).fill(7))
  for (const bad of ['', '0OIl', '1', bytes(63), bytes(65), `1${signature}`, ` ${signature}`, 5, null]) {
    expect(await auth.verify({ ...attempt, signature: bad })).toMatchObject(malformed)
  }
  for (const body of ['', '{', 'null', '[]', '"text"', '{}']) {
    expect(await auth.ask('POST', '/auth/verify', { body })).toMatchObject(malformed)
    expect(await auth.ask('POST', '/auth/nonce', { body })).toMatchObject(malformed)
  }
  expect(await auth.verify({ ...attempt, signedMessage: '0OIl' })).toMatchObject(malformed)
  expect((await auth.verify(attempt)).status).toBe(200)
})

test('a wallet that signs our text inside the off-chain envelope signs in', async () => {
  const wallet = newWallet()
  const attempt = await auth.signed(wallet)
  const text = Buffer.from(attempt.message)
  const length = Buffer.from([text.length & 0xff, text.length >> 8])
  const envelope = Buffer.concat([Buffer.from('\xffsolana offchain\0\0', 'latin1'), length, text])
  const signed = { ...attempt, signature: wallet.sign(envelope), signedMessage: bs58.encode(envelope) }
  expect((await auth.verify(signed)).status).toBe(200)
})

test('signed bytes of the caller’s own making never stand for our text', async () => {
  const wallet = newWallet()
  const own = (text: string) => ({ signature: wallet.sign(text), signedMessage: bs58.encode(Buffer.from(text)) })
  const phished = (message: string) => [
    'evil.example wants you to sign in with your Solana account:',
    `evil.example wants you to sign in with your Solana account:\n${wallet.address}\n\n${message}`,
    `${message}\n`,
    `${message}\r\n`,
    message.replaceAll('\n', '\r\n'),
    `${message}\0`,
    message.replace(/Issued At: \d+/, 'Issued At: 1970'),
    ` ${message}`,
    message.replace('app.example', 'evil.example'),
    message.slice(0, -1),
  ]
  for (const index of phished('').keys()) {
    const attempt = await auth.signed(wallet)
    const text = phished(attempt.message)[index] ?? ''
    expect(await auth.verify({ ...attempt, ...own(text) })).toMatchObject(refused)
  }
})

test('a sign-in ends the session that the browser had', async () => {
  const wallet = newWallet()
  const first = await auth.verify(await auth.signed(wallet))
  const router = await auth.as('router')
  const sessionHash = hashSession(cookieOf(first).token)
  const before = await router.call(resolveSession, { sessionHash })
  if (before.status !== 'active') throw new Error('no session')
  const as = { acct: before.account, usr: before.user, session: before.session }
  expect((await auth.verify(await auth.signed(wallet), { as })).status).toBe(200)
  expect(await router.call(resolveSession, { sessionHash })).toEqual({ status: 'unknown' })
})

test('a refused sign-in leaves the browser’s session alone', async () => {
  const wallet = newWallet()
  const first = await auth.verify(await auth.signed(wallet))
  const router = await auth.as('router')
  const sessionHash = hashSession(cookieOf(first).token)
  const before = await router.call(resolveSession, { sessionHash })
  if (before.status !== 'active') throw new Error('no session')
  const as = { acct: before.account, usr: before.user, session: before.session }
  const attempt = await auth.signed(wallet)
  expect((await auth.verify({ ...attempt, nonce: newId('request') }, { as })).status).toBe(401)
  expect(await router.call(resolveSession, { sessionHash })).toMatchObject({ status: 'active' })
})

/** The second of the two ways to write a signature's S that fit in 32 bytes. */
function raiseS(signature: Uint8Array): Uint8Array {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const bytes = Buffer.from(signature)
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order
  return Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()])
}
