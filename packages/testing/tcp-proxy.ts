import { createConnection, createServer, type Socket } from 'node:net'

/** How a connection ends: a reset, an orderly close, or not at all: both sides stay open and hear nothing more. */
export type Cut = 'rst' | 'fin' | 'half-open'

export interface TcpFaults {
  /** Added to every chunk, in both directions; the order stays. */
  latencyMs?: number
  /** Ends each connection after this many bytes in one direction, in the middle of a chunk if need be. */
  cutAfter?: { bytes: number; direction: 'to-client' | 'to-server'; how: Cut }
  /** Passes this many bytes at a time to the client, with a pause between. */
  drip?: { bytes: number; everyMs: number }
  /** Resets every new connection. */
  refuse?: boolean
}

export interface TcpProxy extends AsyncDisposable {
  port: number
  /** `127.0.0.1:<port>` */
  host: string
  /** For the connections that are opened from now on. */
  set(faults: TcpFaults): void
  /** Ends every open connection. */
  cut(how: Cut): void
  /** Connections that are open now. */
  open(): number
  stop(): Promise<void>
}

interface Pair {
  client: Socket
  server: Socket
  silent: boolean
}

/** A proxy for raw TCP in front of a server on this machine, which fails as networks do. */
export async function tcpProxy(to: { port: number; host?: string }): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  let faults: TcpFaults = {}

  const listener = createServer({ allowHalfOpen: true }, client => {
    client.on('error', () => {})
    if (faults.refuse) {
      client.resetAndDestroy()
      return
    }
    const server = createConnection({ port: to.port, host: to.host ?? '127.0.0.1', allowHalfOpen: true })
    const pair: Pair = { client, server, silent: false }
    pairs.add(pair)
    server.on('error', () => end(pair, 'rst'))
    client.on('error', () => end(pair, 'rst'))
    client.on('close', () => pairs.delete(pair))
    relay(pair, 'to-server', faults)
    relay(pair, 'to-client', faults)
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP listener has a port')

  const stop = async () => {
    for (const { client, server } of pairs) {
      client.destroy()
      server.destroy()
    }
    await new Promise(resolve => listener.close(resolve))
  }
  return {
    port: address.port,
    host: `127.0.0.1:${address.port}`,
    set(next) {
      faults = next
    },
    cut(how) {
      for (const pair of pairs) end(pair, how)
    },
    open: () => pairs.size,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Passes one direction on, a chunk after the other, waiting for the reader: backpressure goes through. */
function relay(pair: Pair, direction: 'to-client' | 'to-server', faults: TcpFaults): void {
  const [from, to] = direction === 'to-client' ? [pair.server, pair.client] : [pair.client, pair.server]
  const cut = faults.cutAfter?.direction === direction ? faults.cutAfter : undefined
  const drip = direction === 'to-client' ? faults.drip : undefined
  let passed = 0
  let last: Promise<void> = Promise.resolve()

  async function onChunk(chunk: Buffer): Promise<void> {
    if (faults.latencyMs) await Bun.sleep(faults.latencyMs)
    if (pair.silent) return
    const allowed = cut ? chunk.subarray(0, cut.bytes - passed) : chunk
    passed += allowed.length
    await pass(allowed, to, drip)
    if (cut && passed >= cut.bytes) end(pair, cut.how)
  }

  from.on('data', (chunk: Buffer) => {
    from.pause()
    last = last.then(() => onChunk(chunk)).then(() => void from.resume())
  })
  from.on('end', () => {
    last = last.then(() => void (pair.silent || to.end()))
  })
}

async function pass(bytes: Buffer, to: Socket, drip: TcpFaults['drip']): Promise<void> {
  const step = drip?.bytes ?? bytes.length
  for (let start = 0; start < bytes.length; start += step) {
    if (!to.write(bytes.subarray(start, start + step))) await drained(to)
    if (drip) await Bun.sleep(drip.everyMs)
  }
}

function drained(socket: Socket): Promise<void> {
  if (socket.destroyed) return Promise.resolve()
  return new Promise(resolve => {
    socket.once('drain', resolve).once('close', resolve)
  })
}

function end(pair: Pair, how: Cut): void {
  const { client, server } = pair
  pair.silent = true
  if (how === 'half-open') return
  for (const socket of [client, server]) {
    if (how === 'fin') socket.end()
    else if (!socket.destroyed) socket.resetAndDestroy()
  }
}
