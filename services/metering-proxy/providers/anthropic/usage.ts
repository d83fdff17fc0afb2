import { isFields } from '../../json.ts'
import { type ReportedUsage, usageOf } from '../../usage.ts'
import { reportedUsage, sumOfCounts } from '../completion.ts'

/**
 * Anthropic's `usage`: `input_tokens` leaves out what was read from and written to the cache, so that the three are disjoint
 * and the prompt is their sum. Thinking is inside of `output_tokens`.
 */
export function readUsage(usage: unknown): ReportedUsage | null {
  if (!isFields(usage)) return null
  const cached = usage.cache_read_input_tokens ?? 0
  const cacheWrite = usage.cache_creation_input_tokens ?? 0
  const prompt = sumOfCounts([usage.input_tokens, cached, cacheWrite])
  const counted = usageOf({ prompt, completion: usage.output_tokens, cached, cacheWrite })
  const details = isFields(usage.output_tokens_details) ? usage.output_tokens_details : {}
  return counted && reportedUsage(counted, details.thinking_tokens)
}
