import type { Gateway } from './gateway.ts'

/** An answer with its JSON body, as a REST client sees it. */
export interface Answer<T = unknown> {
  status: number
  headers: Headers
  body: T
}

export interface ErrorAnswer {
  error: { message: string; code: string }
}

/** How a caller shows who it is: an API key, or the cookie that a browser would send, with its origin. */
export type Credential = { key: string } | { cookie: string } | null

export function credentialHeaders(gateway: Gateway, credential: Credential): Record<string, string> {
  if (!credential) return { origin: gateway.appOrigin }
  if ('key' in credential) return { authorization: `Bearer ${credential.key}` }
  return { cookie: credential.cookie, origin: gateway.appOrigin }
}

/** Sends one request to the router, with a JSON body where there is one, and reads the JSON answer. */
export async function request<T = unknown>(
  gateway: Gateway,
  credential: Credential,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer<T>> {
  const response = await fetch(`${gateway.router}${path}`, {
    method,
    headers: {
      ...credentialHeaders(gateway, credential),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  // The test that reads the body says what it holds; a body that is not JSON fails it here.
  return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : null) as T }
}
