import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import { type Browser, chromium, type Page } from 'playwright-core'
import nacl from 'tweetnacl'
import type { Gateway } from './client/gateway.ts'
import { topUp } from './client/pay.ts'
import { type RunningStack, stack } from './stack.ts'

/** Debian's, and where the others put it. Without a browser on the machine these tests are skipped. */
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
]

let app: ReturnType<typeof servePage>
let stranger: ReturnType<typeof servePage>
let running: RunningStack
let gateway: Gateway
let browser: Browser
const wallet = Keypair.generate()

/** A site with one empty page; `localhost`, since browsers keep Secure cookies for it without TLS. */
function servePage() {
  const server = Bun.serve({
    port: 0,
    hostname: 'localhost',
    fetch: () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
  })
  return { origin: `http://localhost:${server.port}`, stop: () => server.stop(true) }
}

beforeAll(async () => {
  if (!executablePath) return
  app = servePage()
  stranger = servePage()
  running = await stack({ env: { APP_ORIGIN: app.origin, ALLOWED_ORIGINS: app.origin } })
  gateway = running.gateway
  browser = await chromium.launch({ executablePath, args: QUIET })
}, 120_000)

afterAll(async () => {
  if (!executablePath) return
  await browser.close()
  await running.stop()
  app.stop()
  stranger.stop()
}, 30_000)

interface Seen {
  status: number
  text: string
  requestId: string | null
}

/** A fetch as a page of that origin makes it; `blocked` when the browser keeps the answer from the page. */
function fetchIn(page: Page, path: string, method = 'GET', body?: object): Promise<Seen | 'blocked'> {
  return page.evaluate(
    async ([url, method, body]) => {
      try {
        const init = {
          method,
          credentials: 'include' as const,
          ...(body && { body, headers: { 'content-type': 'application/json' } }),
        }
        const answer = await fetch(String(url), init as RequestInit)
        return { status: answer.status, text: await answer.text(), requestId: answer.headers.get('x-request-id') }
      } catch {
        return 'blocked' as const
      }
    },
    [`${gateway.router}${path}`, method, body ? JSON.stringify(body) : null] as const,
  )
}

async function open(origin: string): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(origin)
  return page
}

const json = (seen: Seen | 'blocked') => JSON.parse(seen === 'blocked' ? '{}' : seen.text)

test.skipIf(!executablePath)(
  'a browser app signs in, keeps the session out of scripts, pays and streams',
  async () => {
    const page = await open(app.origin)
    const address = wallet.publicKey.toBase58()
    const { nonce, message } = json(await fetchIn(page, '/auth/nonce', 'POST', { address }))
    const signature = bs58.encode(nacl.sign.detached(new TextEncoder().encode(message), wallet.secretKey))
    expect(message).toStartWith(new URL(app.origin).host)
    expect(await fetchIn(page, '/auth/verify', 'POST', { address, nonce, signature })).toMatchObject({ status: 200 })
    expect(await page.evaluate('document.cookie')).toBe('')

    const [cookie] = await page.context().cookies(gateway.router)
    expect(cookie).toMatchObject({ name: 'svc_session', httpOnly: true, secure: true, sameSite: 'None' })
    const poor = await fetchIn(page, '/v1/chat/completions', 'POST', {
      model: 'tollgate-sim',
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(poor).toMatchObject({ status: 402, requestId: expect.stringMatching(/^req_/) })

    await topUp(gateway, { wallet, cookie: `svc_session=${cookie?.value}` }, '2')
    const streamed = await fetchIn(page, '/v1/chat/completions', 'POST', {
      model: 'tollgate-sim',
      stream: true,
      max_tokens: 20,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(streamed).toMatchObject({ status: 200, text: expect.stringContaining('data: [DONE]') })
    expect(json(await fetchIn(page, '/auth/me')).user.wallet).toBe(address)
  },
  60_000,
)

test.skipIf(!executablePath)(
  'a page of another origin can neither read nor change anything with the visitor’s cookie',
  async () => {
    const page = await open(app.origin)
    const before = json(await fetchIn(page, '/keys')).data?.length
    const address = wallet.publicKey.toBase58()
    const { nonce, message } = json(await fetchIn(page, '/auth/nonce', 'POST', { address }))
    const signature = bs58.encode(nacl.sign.detached(new TextEncoder().encode(message), wallet.secretKey))
    await fetchIn(page, '/auth/verify', 'POST', { address, nonce, signature })

    await page.goto(stranger.origin)
    expect(await fetchIn(page, '/keys')).toBe('blocked')
    expect(await fetchIn(page, '/keys', 'POST', { name: 'stolen' })).toBe('blocked')
    // A form needs no preflight: the request arrives, with the cookie, and is refused for its origin.
    await page.setContent(
      `<form method="post" enctype="text/plain" action="${gateway.router}/keys"><input name='{"name":"' value='x"}'></form>`,
    )
    const [answer] = await Promise.all([
      page.waitForResponse(`${gateway.router}/keys`),
      page.waitForURL(`${gateway.router}/keys`),
      page.evaluate('document.forms[0].submit()'),
    ])
    expect(answer.status()).toBe(403)

    await page.goto(app.origin)
    expect(json(await fetchIn(page, '/keys')).data).toHaveLength(before ?? 0)
    expect(await fetchIn(page, '/auth/logout', 'POST')).toMatchObject({ status: 200 })
    expect(await fetchIn(page, '/auth/me')).toMatchObject({ status: 401 })
  },
  60_000,
)
