import { parseExact } from './json.ts'

const TIMEOUT_MS = 4_000

/** Gets JSON from a price source with its numbers kept as text. The error names the host, never the query or a key. */
export async function fetchExact(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`)
  return parseExact(text)
}
