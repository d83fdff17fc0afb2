import { PublicError, type Route, routes } from '@tollgate/contracts'
import { type Log, publicErrorOf } from '@tollgate/service'
import { Elysia } from 'elysia'
import { preflight } from './cors.ts'
import { docsPage } from './docs-page.ts'
import { type Call, type HandleParts, handle } from './handle.ts'
import { openApi } from './openapi.ts'

export interface HttpOptions extends HandleParts {
  log: Log
  /** The call that a request is; the edge opened it. */
  callOf(request: Request): Call
}

const DOCS_CACHE = 'public, max-age=300'

/**
 * The routes of the contract, and nothing else: exact paths, no wildcards, no trailing slash. Handlers answer a `Response`
 * that Elysia passes on as it is; what they throw becomes a listed error.
 */
export function routerHttp(options: HttpOptions) {
  const { log, callOf, origins } = options
  const app = new Elysia({ name: 'router', strictPath: true }).onError({ as: 'global' }, ({ error, request }) =>
    publicErrorOf(error, log, callOf(request).id).toResponse(),
  )
  for (const route of routes) {
    for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]) {
      app.route(method, route.path, ({ request }) => handle(known(callOf(request)), route, options), { parse: 'none' })
    }
  }
  for (const [path, methods] of methodsByPath()) {
    app.route('OPTIONS', path, ({ request }) => preflight(request, methods, origins), { parse: 'none' })
  }
  for (const [path, answer] of documents()) {
    for (const method of ['GET', 'HEAD']) app.route(method, path, answer, { parse: 'none' })
  }
  return app
}

/** The API described, for machines and for readers. */
function documents(): [path: string, answer: () => Response][] {
  const document = openApi(routes)
  const file = (body: string, type: string) => () =>
    new Response(body, { headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': DOCS_CACHE } })
  return [
    ['/openapi.json', file(JSON.stringify(document), 'application/json')],
    ['/docs', file(docsPage(document), 'text/html')],
  ]
}

/** A fragment is no part of a request, and would be lost on the way; a service reads an id that can't be decoded as null. */
function known(call: Call): Call {
  if (call.target.includes('#') || !isDecodable(call.target)) {
    throw new PublicError('not_found', 'there is nothing at this path')
  }
  return call
}

function isDecodable(target: string): boolean {
  const [path = ''] = target.split('?', 1)
  if (!path.includes('%')) return true
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** What may be called at each path, for OPTIONS. */
function methodsByPath(): Map<string, string> {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of routes as readonly Route[]) {
    const known = methods.get(path) ?? new Set(['OPTIONS'])
    known.add(method)
    if (method === 'GET') known.add('HEAD')
    methods.set(path, known)
  }
  return new Map(Array.from(methods, ([path, names]) => [path, [...names].join(', ')]))
}
