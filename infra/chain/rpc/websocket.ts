import type { ServerWebSocket, WebSocketHandler } from 'bun'
import { answer, failure, methodNotFound, type Reply, readCall } from './dispatch.ts'
import { toJson } from './json.ts'
import type { Node } from './methods.ts'
import { RPC_CODES, RpcError } from './rpc-error.ts'
import type { Listener, Subscriptions } from './subscriptions.ts'

/** A client's connection: what its subscriptions write to. */
export class Connection implements Listener {
  readonly #node: Node
  socket: ServerWebSocket<Connection> | null = null

  constructor(node: Node) {
    this.#node = node
  }

  send(method: string, subscription: number, result: unknown): void {
    if (this.#node.faults.settings.webSocket === 'silent') return
    this.socket?.send(toJson({ jsonrpc: '2.0', method, params: { result, subscription } }))
  }
}

/** The PubSub side: (un)subscribe calls in, replies and notifications out. */
export function webSocketHandler(
  subscriptions: Subscriptions,
  sockets: Set<ServerWebSocket<Connection>>,
): WebSocketHandler<Connection> {
  return {
    open(socket) {
      socket.data.socket = socket
      sockets.add(socket)
    },
    message(socket, text) {
      const reply = answerText(subscriptions, socket.data, String(text))
      if (reply !== null) socket.send(toJson(reply))
    },
    close(socket) {
      sockets.delete(socket)
      subscriptions.drop(socket.data)
    },
  }
}

function answerText(subscriptions: Subscriptions, listener: Listener, text: string): Reply | null {
  const call = readCall(parse(text))
  if (call === null) return failure(null, new RpcError(RPC_CODES.invalidRequest, 'Invalid Request'))
  const reply = answer(call, () => {
    // web3.js keeps its socket open with `ping` notifications.
    if (call.method === 'ping') return 'pong'
    const handled = subscriptions.call(listener, call.method, call.params)
    if (handled === null) throw methodNotFound()
    return handled.result
  })
  return call.id === undefined ? null : reply
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
