import { type Msg, type MsgHdrs, type NatsConnection, nuid } from 'nats'

/** Why a request has no answer. `no_responders`: nobody heard it, so it was not executed; otherwise it may have been. */
export type Silence = 'no_responders' | 'timeout' | 'closed'

export interface RequestOptions {
  timeoutMs: number
  headers?: MsgHdrs
}

/**
 * Requests and answers at little cost: one timer for all that wait, and one write for all that leaves in a turn of the event
 * loop. The client's own `request` makes a timer, a promise race and a stack trace for each (infra/bench/README.md has the
 * figures).
 */
export interface Requester {
  /** Sends bytes and resolves with the answer, or with why there is none. Never throws. */
  request(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Msg | Silence>
  /** Sends bytes with what else leaves in this turn. What a closed connection loses, its receiver asks for again. */
  publish(subject: string, payload: Uint8Array): void
  /** The connection was lost, or is back. What waited is told at once: its answers are lost with it. */
  connected(isUp: boolean): void
}

interface Pending {
  resolve(answer: Msg | Silence): void
  deadline: number
}

interface Outgoing {
  subject: string
  payload: Uint8Array
  /** Of a request: under what its answer is waited for. */
  token?: string
  headers?: MsgHdrs
}

const NO_RESPONDERS = 503
/** How late a timeout may be noticed; those of the bus are hundreds of milliseconds and more. */
const SWEEP_EVERY_MS = 25

export function createRequester(connection: NatsConnection, inboxPrefix: string): Requester {
  const inbox = `${inboxPrefix}.${nuid.next()}.`
  const pending = new Map<string, Pending>()
  let asked = 0
  let up = true
  let leaving: Outgoing[] = []

  function end(token: string, answer: Msg | Silence): void {
    const waiting = pending.get(token)
    pending.delete(token)
    waiting?.resolve(answer)
  }

  connection.subscribe(`${inbox}*`, {
    callback: (_error, message) => {
      const unheard = message.data.length === 0 && message.headers?.code === NO_RESPONDERS
      end(message.subject.slice(inbox.length), unheard ? 'no_responders' : message)
    },
  })

  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [token, { deadline }] of pending) if (deadline <= now) end(token, 'timeout')
  }, SWEEP_EVERY_MS)
  sweep.unref()
  void connection.closed().then(() => clearInterval(sweep))

  function flush(): void {
    const batch = leaving
    leaving = []
    for (const { subject, payload, token, headers } of batch) {
      try {
        connection.publish(subject, payload, {
          ...(token !== undefined && { reply: inbox + token }),
          ...(headers && { headers }),
        })
      } catch {
        if (token !== undefined) end(token, 'closed')
      }
    }
  }

  function send(message: Outgoing): void {
    if (leaving.push(message) === 1) setImmediate(flush)
  }

  return {
    request: (subject, payload, { timeoutMs, headers }) =>
      new Promise(resolve => {
        if (!up) return resolve('closed')
        const token = (asked++).toString(36)
        pending.set(token, { resolve, deadline: performance.now() + timeoutMs })
        send({ subject, payload, token, ...(headers && { headers }) })
      }),
    publish: (subject, payload) => send({ subject, payload }),
    connected(isUp) {
      up = isUp
      if (!up) for (const token of pending.keys()) end(token, 'closed')
    },
  }
}
