import { isFields } from '../../json.ts'
import { type ReportedUsage, usageOf } from '../../usage.ts'
import { reportedUsage, sumOfCounts } from '../completion.ts'

/**
 * Gemini's `usageMetadata`: the prompt's count has the cached tokens inside, the candidates' leaves the thoughts out, and what
 * tools of Google's own put into the prompt stands beside it. Google's JSON leaves zeros out: a completion that is not there
 * is none when nothing was said, but when something was, the report is of the prompt only, and no bill yet.
 */
export function readUsage(metadata: unknown, anythingSaid: boolean): ReportedUsage | null {
  if (!isFields(metadata)) return null
  const parts = [metadata.candidatesTokenCount, metadata.thoughtsTokenCount].filter(count => count !== undefined)
  const counted = usageOf({
    prompt: sumOfCounts([metadata.promptTokenCount, metadata.toolUsePromptTokenCount ?? 0]),
    completion: parts.length === 0 && anythingSaid ? null : sumOfCounts(parts),
    cached: metadata.cachedContentTokenCount,
  })
  return counted && reportedUsage(counted, metadata.thoughtsTokenCount)
}
