import { expect, test } from 'bun:test'
import { encloses } from './envelope.ts'
import { chainIdOf, isOrigin, MESSAGE_MAX_BYTES, signInMessage } from './message.ts'

const text = {
  origin: 'http://localhost:3000',
  address: '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS',
  chainId: 'mainnet',
  nonce: '0123456789abcdef0123456789abcdef',
  issuedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  expiresAtMs: Date.UTC(2026, 0, 2, 3, 9, 5, 6),
}

test('the text is laid out as Sign-In With Solana says', () => {
  expect(signInMessage(text)).toBe(
    [
      'localhost:3000 wants you to sign in with your Solana account:',
      '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS',
      '',
      'Sign in to use and top up your account. This costs nothing and sends no transaction.',
      '',
      'URI: http://localhost:3000',
      'Version: 1',
      'Chain ID: mainnet',
      'Nonce: 0123456789abcdef0123456789abcdef',
      'Issued At: 2026-01-02T03:04:05.006Z',
      'Expiration Time: 2026-01-02T03:09:05.006Z',
    ].join('\n'),
  )
  expect(['mainnet-beta', 'devnet', 'localnet'].map(chainIdOf)).toEqual(['mainnet', 'devnet', 'localnet'])
})

test('the longest text is printable ASCII that a Ledger shows', () => {
  const origin = `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example:65535`
  expect(isOrigin(origin)).toBe(true)
  const message = signInMessage({ ...text, origin })
  expect(message).toMatch(/^[\x20-\x7e\n]+$/)
  expect(Buffer.byteLength(message)).toBeLessThan(MESSAGE_MAX_BYTES)
})

test('an origin is what a browser sends, and nothing else', () => {
  for (const origin of [
    'http://localhost:3000',
    'https://app.example',
    'http://[::1]:8080',
    'https://xn--e1aybc.example',
  ]) {
    expect({ origin, is: isOrigin(origin) }).toEqual({ origin, is: true })
  }
  const none = [
    '',
    'null',
    'app.example',
    'https://app.example/',
    'https://app.example:443',
    'https://App.example',
    'https://user@app.example',
    'https://app.example\nevil.example',
    'https://тест.example',
    'ftp://app.example',
    'data:text/html,x',
    'https://',
    `https://${'a'.repeat(300)}.example`,
  ]
  for (const origin of none) expect({ origin, is: isOrigin(origin) }).toEqual({ origin, is: false })
})

const domain = Buffer.from('\xffsolana offchain', 'latin1')
const ours = Buffer.from(signInMessage(text))
const signer = Buffer.alloc(32, 7)
const length = (bytes: Uint8Array) => Buffer.from([bytes.length & 0xff, bytes.length >> 8])

/** The two headers that wallets write; each part can be set wrong. */
const older = ({ version = 0, format = 0, body = ours, says = length(body) } = {}) =>
  Buffer.concat([domain, Buffer.from([version, format]), says, body])
const present = ({ version = 0, format = 0, signers = [signer], body = ours, count = -1 } = {}) =>
  Buffer.concat([
    domain,
    Buffer.from([version]),
    Buffer.alloc(32, 9),
    Buffer.from([format, count < 0 ? signers.length : count]),
    ...signers,
    length(body),
    body,
  ])

test('our text is signed as it is, or in either envelope of the off-chain format', () => {
  const other = Buffer.alloc(32, 8)
  for (const signed of [
    ours,
    older(),
    older({ format: 1 }),
    present(),
    present({ format: 1 }),
    present({ signers: [other, signer] }),
  ]) {
    expect(encloses(signed, ours, signer)).toBe(true)
  }
})

test('bytes that are not exactly that are refused', () => {
  const longer = Buffer.concat([Buffer.from('evil.example wants you to sign in\n'), ours])
  const refused: Record<string, Uint8Array> = {
    nothing: new Uint8Array(),
    'only the domain': domain,
    'text before ours': longer,
    'text after ours': Buffer.concat([ours, Buffer.from('\nResources:')]),
    'a cut text': ours.subarray(0, -1),
    'older: another version': older({ version: 1 }),
    'older: another format': older({ format: 2 }),
    'older: text before ours': older({ body: longer }),
    'older: a length that is too short': older({ says: Buffer.from([1, 0]) }),
    'older: bytes behind the text': Buffer.concat([older(), Buffer.from('x')]),
    'older: no domain': older().subarray(1),
    'present: another version': present({ version: 1 }),
    'present: another format': present({ format: 2 }),
    'present: text before ours': present({ body: longer }),
    'present: nobody signs': present({ signers: [] }),
    'present: another signer': present({ signers: [Buffer.alloc(32, 8)] }),
    'present: fewer signers than it says': present({ count: 2 }),
    'present: more signers than it says': present({ signers: [signer, signer], count: 1 }),
    'present: signers beyond the end': present({ count: 255 }),
    'present: bytes behind the text': Buffer.concat([present(), Buffer.from('x')]),
  }
  for (const [what, signed] of Object.entries(refused)) {
    expect({ what, enclosed: encloses(signed, ours, signer) }).toEqual({ what, enclosed: false })
  }
})
