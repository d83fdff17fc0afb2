import { createServer, type Server, type Socket } from 'node:net'

/** One HTTP request on a raw socket, for a server that answers whatever it likes. */
export interface Wire {
  readonly head: string
  readonly body: string
  /** Resolves when the bytes left, so that a writer keeps the reader's pace. False once the reader is gone. */
  write(bytes: string | Uint8Array): Promise<boolean>
  /** FIN: an orderly end. */
  end(): void
  /** RST: what a crashed or cut-off server sends. */
  reset(): void
}

export type Behaviour = (wire: Wire) => Promise<unknown> | unknown

export interface RawUpstream extends AsyncDisposable {
  /** Base URL for a provider: ends in `/v1`. */
  url: string
  /** Requests that were read to their end. */
  readonly requests: number
  readonly openSockets: number
  stop(): Promise<void>
}

/** A server on 127.0.0.1 that reads one request per connection and then does what `behave` does. */
export async function startRaw(behave: Behaviour): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  const counts = { requests: 0 }
  const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    readRequest(socket, (head, body) => {
      counts.requests++
      return behave(wireOf(socket, head, body))
    })
  })
  const port = await listening(server)
  const stop = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    get requests() {
      return counts.requests
    },
    get openSockets() {
      return sockets.size
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function listening(server: Server): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    resolve(typeof address === 'object' && address ? address.port : 0)
  })
  return promise
}

function readRequest(socket: Socket, then: (head: string, body: string) => unknown): void {
  let received = Buffer.alloc(0)
  let answered = false
  socket.on('data', bytes => {
    if (answered) return
    received = Buffer.concat([received, bytes])
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = received.subarray(0, headEnd).toString()
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    const body = received.subarray(headEnd + 4)
    if (body.length < length) return
    answered = true
    // What a behaviour throws once its reader has left is nobody's concern.
    void Promise.resolve(then(head, body.toString())).catch(() => socket.destroy())
  })
  // The client's half ended: half-open on purpose (the behaviour may still write), until it does no more.
  socket.on('end', () => socket.end())
}

function wireOf(socket: Socket, head: string, body: string): Wire {
  const gone = new Promise<boolean>(resolve => socket.once('close', () => resolve(false)))
  return {
    head,
    body,
    write(bytes) {
      if (socket.destroyed || !socket.writable) return Promise.resolve(false)
      const written = new Promise<boolean>(resolve => socket.write(bytes, error => resolve(!error)))
      return Promise.race([written, gone])
    },
    end: () => socket.end(),
    reset: () => socket.resetAndDestroy(),
  }
}
