import type { Fields } from '../../json.ts'
import type { Effort } from '../options.ts'

const takesBudget = /gemini-[12](?!\d)/

/** Google's own table for its OpenAI door: https://ai.google.dev/gemini-api/docs/openai#thinking */
const BUDGET_TOKENS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}
/** From Gemini 3 on thinking has levels, and the least of them is as near to none as it comes. */
const LEVELS: Readonly<Record<Effort, string>> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** OpenAI's `reasoning_effort` as Gemini's thinking, shown to who asked for it. Thoughts are within `maxOutputTokens`. */
export function thinkingOf(effort: Effort | null, model: string): Fields | null {
  if (effort === null) return null
  const includeThoughts = effort !== 'none'
  if (takesBudget.test(model)) return { thinkingBudget: BUDGET_TOKENS[effort], includeThoughts }
  return { thinkingLevel: LEVELS[effort], includeThoughts }
}
