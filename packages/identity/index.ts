import { timingSafeEqual } from 'node:crypto'
import type { StaticDecode } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Identity as IdentitySchema } from '@tollgate/contracts'

export type Identity = StaticDecode<typeof IdentitySchema>

/** How long a signed identity may be used: one hop on one request, with room for a queue. */
const LIFE_MS = 60_000

const schema = TypeCompiler.Compile(IdentitySchema)

/** Signs with the first secret; checks against all, so that a secret can be rotated without a gap. */
export interface IdentitySecrets {
  readonly secrets: readonly string[]
}

/** The header's value: the claims and their HMAC-SHA256, both base64url. */
export function signIdentity(claims: Omit<Identity, 'v' | 'exp'>, { secrets }: IdentitySecrets, nowMs: number): string {
  const [secret] = secrets
  if (!secret) throw new Error('no identity secret')
  const payload = Buffer.from(JSON.stringify({ v: 1, ...claims, exp: nowMs + LIFE_MS })).toString('base64url')
  return `${payload}.${mac(payload, secret).toString('base64url')}`
}

/** The claims of a header that one of our secrets signed for this audience and that has not expired; null for any other. */
export function readIdentity(
  header: string | null,
  audience: string,
  { secrets }: IdentitySecrets,
  nowMs: number,
): Identity | null {
  const [payload, signature, ...rest] = header?.split('.') ?? []
  if (!payload || !signature || rest.length > 0) return null
  const given = Buffer.from(signature, 'base64url')
  if (!secrets.some(secret => sameBytes(mac(payload, secret), given))) return null
  // Signed by us: it parses, and a wrong shape means a service of another release.
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return schema.Check(claims) && claims.aud === audience && claims.exp > nowMs ? claims : null
}

function mac(payload: string, secret: string): Buffer {
  return new Bun.CryptoHasher('sha256', secret).update(payload).digest()
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
