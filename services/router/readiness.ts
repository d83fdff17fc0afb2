import type { Readiness } from '@tollgate/service'
import type { Replicas } from './replicas.ts'

/** `/readyz` is public: asked often, it asks the services no more than this often. */
const ASK_EVERY_MS = 500
const ANSWER_WITHIN_MS = 800

/** Ready means: NATS is there, and of each service at least one replica answers. */
export function routerReadiness(bus: { readonly connected: boolean }, services: Record<string, Replicas>): Readiness {
  const checks = Object.entries(services).map(([name, replicas]) => [name, remembered(() => isAnswering(replicas))])
  return { nats: () => bus.connected, ...Object.fromEntries(checks) }
}

async function isAnswering(replicas: Replicas): Promise<boolean> {
  const asked = replicas.all.map(async ({ url }) => {
    const { ok } = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    if (!ok) throw new Error('not well')
  })
  return Promise.any(asked).then(
    () => true,
    () => false,
  )
}

function remembered(check: () => Promise<boolean>): () => Promise<boolean> {
  let answer: Promise<boolean> = Promise.resolve(false)
  let askedAt = -Infinity
  return () => {
    if (performance.now() - askedAt < ASK_EVERY_MS) return answer
    askedAt = performance.now()
    answer = check()
    return answer
  }
}
