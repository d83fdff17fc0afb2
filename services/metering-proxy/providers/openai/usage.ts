import { type Fields, isFields } from '../../json.ts'
import { type ReportedUsage, usageOf } from '../../usage.ts'
import { sumOfCounts } from '../completion.ts'

/**
 * OpenAI's `usage`, as its followers fill it: DeepSeek puts cache hits beside the totals, Groq repeats the object in `x_groq`.
 * Cached tokens are inside the prompt's. Reasoning is inside the completion's, but for those (xAI) whose total says that it is
 * beside it: then it is put inside, as callers are shown it too. A provider's own `cost` is not looked at.
 */
export function readUsage(usage: unknown): ReportedUsage | null {
  if (!isFields(usage)) return null
  const details = isFields(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const beside = reasoningBeside(usage)
  const completion = beside === 0 ? usage.completion_tokens : Number(usage.completion_tokens) + beside
  const counted = usageOf({
    prompt: usage.prompt_tokens,
    // Embeddings have no completion, and say so by leaving it out.
    completion,
    cached: details.cached_tokens ?? usage.prompt_cache_hit_tokens,
    cacheWrite: details.cache_write_tokens,
  })
  return counted && { usage: counted, shown: beside === 0 ? usage : { ...usage, completion_tokens: completion } }
}

/** Reasoning tokens that `completion_tokens` leaves out. */
function reasoningBeside(usage: Fields): number {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage
  const details = isFields(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  const whole = sumOfCounts([prompt, completion, details.reasoning_tokens])
  return whole !== null && whole === total ? Number(details.reasoning_tokens) : 0
}
