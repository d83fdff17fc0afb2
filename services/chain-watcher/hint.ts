import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

export interface HintOptions {
  urls: readonly string[]
  account: string
  /** Something happened to the account: look now instead of later. */
  hint(): void
}

/** A message without an id is a notification: the only kind that we ask for. */
const Notification = Type.Object({ method: Type.Literal('accountNotification') })

const WAIT_MS = { first: 500, most: 30_000 } as const
/** A socket that says nothing may be dead, and providers close idle ones: begin anew. */
const IDLE_MAX_MS = 5 * 60_000

/** The WebSocket URL of an RPC URL, as clients of Solana derive it: an explicit port counts one up. */
export function webSocketUrl(rpcUrl: string): string {
  const url = new URL(rpcUrl)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  if (url.port !== '') url.port = String(Number(url.port) + 1)
  return url.href
}

/**
 * Hears of changes of an account over WebSocket, at most once and without promise: only ever a hint that polling finds
 * more. Reconnects for as long as it is open, to the next URL each time.
 */
export function openHints({ urls, account, hint }: HintOptions): { close(): void } {
  let socket: WebSocket | undefined
  let timer: Timer | undefined
  let closed = false
  let failures = 0

  function connect(): void {
    if (closed) return
    const current = new WebSocket(urls[failures % urls.length] ?? '')
    socket = current
    current.onopen = () => {
      const params = [account, { encoding: 'base64', commitment: 'confirmed' }]
      current.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'accountSubscribe', params }))
      // What happened while nobody listened has no notification.
      hint()
      expectWord(current)
    }
    current.onmessage = event => {
      failures = 0
      expectWord(current)
      if (isNotification(String(event.data))) hint()
    }
    current.onclose = () => {
      if (socket === current) reconnect()
    }
  }

  function expectWord(current: WebSocket): void {
    clearTimeout(timer)
    timer = setTimeout(() => current.close(), IDLE_MAX_MS)
  }

  function reconnect(): void {
    clearTimeout(timer)
    if (closed) return
    timer = setTimeout(connect, Math.min(WAIT_MS.first * 2 ** Math.min(failures, 8), WAIT_MS.most))
    failures++
  }

  if (urls.length > 0) connect()
  return {
    close() {
      closed = true
      clearTimeout(timer)
      socket?.close()
    },
  }
}

function isNotification(text: string): boolean {
  try {
    return Value.Check(Notification, JSON.parse(text))
  } catch {
    return false
  }
}
