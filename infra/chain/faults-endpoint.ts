import { type FaultControls, parseFaults } from './faults.ts'
import type { Handler } from './rpc/http.ts'

/** Time for an answer to leave the process. */
const ANSWER_MS = 20

/**
 * Faults over HTTP: GET, PATCH (some settings) and DELETE (all off) on /faults, POST /faults/rollback {signature},
 * POST /faults/down {ms}, POST /faults/drop-sockets. Everything else goes on to the node.
 */
export function faultsEndpoint(controls: FaultControls, next: Handler): Handler {
  return async request => {
    const { pathname } = new URL(request.url)
    if (!pathname.startsWith('/faults')) return next(request)
    try {
      return Response.json(await control(controls, `${request.method} ${pathname}`, await request.text()))
    } catch (error) {
      return Response.json({ error: String(error) }, { status: 400 })
    }
  }
}

async function control(faults: FaultControls, route: string, body: string): Promise<unknown> {
  switch (route) {
    case 'GET /faults':
      break
    case 'PATCH /faults':
      faults.set(parseFaults(JSON.parse(body)))
      break
    case 'DELETE /faults':
      faults.reset()
      break
    case 'POST /faults/rollback':
      return { rolledBack: faults.rollback(String(JSON.parse(body).signature)) }
    case 'POST /faults/down': {
      const ms = Number(JSON.parse(body).ms)
      // The answer must leave before the node stops listening.
      setTimeout(() => faults.goDown(ms), ANSWER_MS)
      break
    }
    case 'POST /faults/drop-sockets':
      faults.dropSockets()
      break
    default:
      throw new Error(`No such control: ${route}`)
  }
  return faults.settings()
}
