import { type PublicErrorCode, publicErrors, type Route, SESSION_COOKIE } from '@tollgate/contracts'

/** An OpenAPI 3.1 document, as far as we write one. TypeBox schemas are JSON Schema and stand in it as they are. */
export interface OpenApi {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, unknown>
}

export interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security: Record<string, never[]>[]
  parameters?: { name: string; in: 'path' | 'query'; required: boolean; schema: unknown }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; headers?: unknown; content?: Content } | { $ref: string }>
}

type Content = Record<string, { schema: unknown }>

const credentials = [{ key: [] }, { session: [] }]

/** What each code means to a caller (interface.md, "Errors"). */
const meanings: Readonly<Record<PublicErrorCode, string>> = {
  bad_request: 'Malformed request.',
  unauthorized: 'Missing or invalid API key or session.',
  insufficient_credits: 'Not enough credits, or a spend cap was hit.',
  forbidden: 'Not allowed.',
  not_found: 'There is no such thing, or it is not yours.',
  rate_limited: 'A rate limit was exceeded; wait for retry-after.',
  internal_error: 'Unexpected error on our side.',
  upstream_error: 'The model provider failed; retry or switch model.',
  service_misconfigured: 'Deployment misconfigured.',
  service_unavailable: 'A dependency is temporarily down; retry.',
}

/** The document of every public endpoint, made from the routes and nothing else. */
export function openApi(routes: readonly Route[]): OpenApi {
  const paths: OpenApi['paths'] = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: '1',
      description: 'A prepaid gateway for model providers. Every answer carries x-request-id.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key, svc_live_…' },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Set by POST /auth/verify' },
      },
      schemas: { Error: errorSchema },
      responses: Object.fromEntries(errorStatuses().map(([status, codes]) => [`Error${status}`, errorAnswer(codes)])),
    },
  }
}

function operationOf(route: Route): Operation {
  const names = Array.from(route.path.matchAll(/:(\w+)/g), ([, name = '']) => name)
  const operation: Operation = {
    operationId: operationIdOf(route),
    summary: route.summary,
    tags: [route.path.split('/')[1] ?? ''],
    security: route.auth === 'none' ? [] : route.auth === 'optional' ? [{}, ...credentials] : credentials,
    responses: {
      200: { description: 'Done.', headers: headersOf(route), content: answerOf(route) },
      ...errorRefs(route),
    },
  }
  const schema = { type: 'string' }
  const parameters = [
    ...names.map(name => ({ name, in: 'path' as const, required: true, schema })),
    ...Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query' as const,
      required: route.query?.required?.includes(name) ?? false,
      schema,
    })),
  ]
  if (parameters.length > 0) operation.parameters = parameters
  if (route.request)
    operation.requestBody = { required: true, content: { 'application/json': { schema: route.request } } }
  return operation
}

/** `POST /keys/:id/roll` → `post_keys_id_roll`. */
function operationIdOf({ method, path }: Route): string {
  return `${method}${path}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
}

function answerOf({ answer, streams }: Route): Content {
  return {
    'application/json': { schema: answer ?? {} },
    ...(streams && {
      'text/event-stream': { schema: { type: 'string', description: 'Chunks, ended by data: [DONE]' } },
    }),
  }
}

function headersOf({ limit }: Route): unknown {
  const header = (description: string) => ({ description, schema: { type: 'string' } })
  return {
    'x-request-id': header('Names this request'),
    ...(limit && {
      'x-ratelimit-limit-requests': header('Calls that a window holds'),
      'x-ratelimit-remaining-requests': header('Calls left in it, as far as this router knows'),
      'x-ratelimit-reset-requests': header('Until the window is empty again, such as 60s'),
    }),
  }
}

function errorRefs(route: Route): Record<string, { $ref: string }> {
  const never = new Set<number>([
    ...(route.limit ? [] : [429]),
    ...(route.auth === 'required' || route.path === '/auth/verify' ? [] : [401]),
    ...(route.service === 'metering-proxy' && route.method === 'POST' ? [] : [402, 502]),
  ])
  const statuses = errorStatuses().filter(([status]) => !never.has(Number(status)))
  return Object.fromEntries(statuses.map(([status]) => [status, { $ref: `#/components/responses/Error${status}` }]))
}

/** Statuses with their codes: 503 has two. */
function errorStatuses(): [status: string, codes: PublicErrorCode[]][] {
  const byStatus = new Map<string, PublicErrorCode[]>()
  for (const [code, status] of Object.entries(publicErrors) as [PublicErrorCode, number][]) {
    byStatus.set(String(status), [...(byStatus.get(String(status)) ?? []), code])
  }
  return [...byStatus]
}

function errorAnswer(codes: readonly PublicErrorCode[]) {
  return {
    description: codes.map(code => `\`${code}\`: ${meanings[code]}`).join(' '),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  }
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['message', 'code'],
      additionalProperties: false,
      properties: { message: { type: 'string' }, code: { enum: Object.keys(publicErrors) } },
    },
  },
}
