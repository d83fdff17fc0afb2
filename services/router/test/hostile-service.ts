import { createServer, type Socket } from 'node:net'

/** A service that answers bytes as the test says, at the level of the socket. */
export interface HostileService {
  url: string
  connections: number
  stop(): void
}

/** `onRequest` gets the socket when a request's head has arrived. Health checks are answered. */
export async function startHostileService(onRequest: (socket: Socket, head: string) => void): Promise<HostileService> {
  const sockets = new Set<Socket>()
  const listener = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    let head = ''
    socket.on('data', chunk => {
      if (head.includes('\r\n\r\n')) return
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      if (head.startsWith('GET /healthz')) {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}')
        return
      }
      service.connections++
      onRequest(socket, head)
    })
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP listener has a port')
  const service = {
    url: `http://127.0.0.1:${address.port}`,
    connections: 0,
    stop() {
      for (const socket of sockets) socket.destroy()
      listener.close()
    },
  }
  return service
}
