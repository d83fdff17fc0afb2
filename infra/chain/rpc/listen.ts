import type { Server, ServerWebSocket } from 'bun'
import type { Handler } from './http.ts'
import type { Node } from './methods.ts'
import type { Subscriptions } from './subscriptions.ts'
import { Connection, webSocketHandler } from './websocket.ts'

const HOST = '127.0.0.1'
/** A free port whose neighbour is taken is given back; two neighbours are found within a few attempts. */
const PORT_ATTEMPTS = 50

/** web3.js reuses a connection that was idle for up to 19 seconds, since nodes keep one for 20. */
const IDLE_SEC = 60

type Servers = { http: Server<undefined>; ws: Server<Connection> }

/** A node's two listening ports. web3.js looks for the WebSocket on the port after the HTTP one. */
export class Listeners {
  readonly #node: Node
  readonly #subscriptions: Subscriptions
  readonly #sockets = new Set<ServerWebSocket<Connection>>()
  #handler: Handler = () => Promise.resolve(new Response(null, { status: 503 }))
  #port = 0
  #servers: Servers | null = null
  #downUntil: Timer | undefined

  constructor(node: Node, subscriptions: Subscriptions) {
    this.#node = node
    this.#subscriptions = subscriptions
  }

  /** Listens on a port and the next one, or on any free pair when it is 0; answers both URLs. */
  open(port: number, handler: Handler): { rpc: string; ws: string } {
    this.#handler = handler
    this.#servers = port === 0 ? this.#listenAnywhere() : this.#listen(port)
    this.#port = Number(this.#servers.http.port)
    return { rpc: `http://${HOST}:${this.#port}`, ws: `ws://${HOST}:${this.#port + 1}` }
  }

  /** Cuts every open WebSocket; clients may connect again. */
  dropSockets(): void {
    for (const socket of this.#sockets) socket.terminate()
  }

  /** Refuses every connection for so long, and cuts those that are open; 0 ends that at once. */
  goDown(ms: number): void {
    clearTimeout(this.#downUntil)
    if (ms > 0) this.#stopListening()
    const comeBack = () => {
      this.#servers ??= this.#listen(this.#port)
    }
    if (ms > 0) this.#downUntil = setTimeout(comeBack, ms)
    else comeBack()
  }

  close(): void {
    clearTimeout(this.#downUntil)
    this.#stopListening()
  }

  #stopListening(): void {
    this.dropSockets()
    this.#servers?.http.stop(true)
    this.#servers?.ws.stop(true)
    this.#servers = null
  }

  #listenAnywhere(): Servers {
    for (let attempt = 1; ; attempt++) {
      try {
        return this.#listen(0)
      } catch (error) {
        if (attempt === PORT_ATTEMPTS) throw error
      }
    }
  }

  #listen(port: number): Servers {
    const http = Bun.serve({ hostname: HOST, port, fetch: this.#handler, idleTimeout: IDLE_SEC })
    try {
      return { http, ws: this.#listenForSockets(Number(http.port) + 1) }
    } catch (error) {
      http.stop(true)
      throw error
    }
  }

  #listenForSockets(port: number): Server<Connection> {
    return Bun.serve({
      hostname: HOST,
      port,
      fetch: (request, server) => {
        if (this.#node.faults.settings.webSocket === 'refused') return new Response(null, { status: 503 })
        if (server.upgrade(request, { data: new Connection(this.#node) })) return undefined
        return new Response('WebSocket only', { status: 426 })
      },
      websocket: webSocketHandler(this.#subscriptions, this.#sockets),
    })
  }
}
