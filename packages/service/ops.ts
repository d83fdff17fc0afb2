import type { Metrics } from './metrics.ts'

export type Readiness = Readonly<Record<string, () => boolean | Promise<boolean>>>

const CHECK_TIMEOUT_MS = 1_000

export interface OpsOptions {
  metrics: Metrics
  readiness: Readiness
  metricsHere?: boolean
}

/** Health and metrics, the same on every service; null for every other path. */
export function opsAnswer(
  request: Request,
  options: OpsOptions,
  draining: boolean,
): Response | Promise<Response> | null {
  if (request.method !== 'GET') return null
  const path = pathOf(request.url)
  if (path === '/healthz') return Response.json({ ok: true })
  if (path === '/readyz') return ready(options.readiness, draining)
  if (path === '/metrics' && options.metricsHere !== false) return metricsText(options.metrics)
  return null
}

/** Without `new URL`: an odd Host header makes that throw, and health is asked often. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}

/** 200 only while everything that the service needs answers now. */
async function ready(readiness: Readiness, draining: boolean): Promise<Response> {
  const entries = await Promise.all(
    Object.entries(readiness).map(async ([name, check]) => [name, await within(check)] as const),
  )
  const checks = Object.fromEntries([...entries, ['accepting', !draining]])
  const ok = Object.values(checks).every(Boolean)
  return Response.json({ ready: ok, checks }, { status: ok ? 200 : 503 })
}

async function within(check: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await Promise.race([check(), Bun.sleep(CHECK_TIMEOUT_MS).then(() => false)])
  } catch {
    return false
  }
}

async function metricsText(metrics: Metrics): Promise<Response> {
  return new Response(await metrics.text(), { headers: { 'content-type': metrics.contentType } })
}
