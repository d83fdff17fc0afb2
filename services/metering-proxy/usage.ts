/**
 * What a provider counted, in buckets that don't overlap: fresh prompt tokens are `promptTokens` less the cached and the
 * cache-writing ones. Reasoning is inside `completionTokens`. All are whole, not negative, and safe integers.
 */
export interface Usage {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
}

/** Usage that a provider reported: the buckets, and the `usage` object that callers are shown. */
export interface ReportedUsage {
  readonly usage: Usage
  readonly shown: Readonly<Record<string, unknown>>
}

/**
 * Buckets from a provider's counts. Null when a count is no count (absent, negative, a fraction, a text, beyond 2^53) or the
 * prompt's is zero, since no prompt is empty: that is a report that we can't use. Cache counts that are absent or senseless
 * are zero, since the whole prompt is then priced as fresh; they never exceed the prompt.
 */
export function usageOf(counts: {
  prompt: unknown
  completion: unknown
  cached?: unknown
  cacheWrite?: unknown
}): Usage | null {
  const { prompt, completion, cached, cacheWrite } = counts
  if (!isCount(prompt) || prompt === 0 || !isCount(completion)) return null
  const cachedTokens = isCount(cached) ? Math.min(cached, prompt) : 0
  const cacheWriteTokens = isCount(cacheWrite) ? Math.min(cacheWrite, prompt - cachedTokens) : 0
  return { promptTokens: prompt, cachedTokens, cacheWriteTokens, completionTokens: completion }
}

/** The `usage` object of an answer whose provider reported none. */
export function shownUsage({ promptTokens, completionTokens }: Usage): Record<string, unknown> {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
