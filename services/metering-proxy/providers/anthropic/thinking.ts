import type { Fields } from '../../json.ts'
import type { Effort } from '../options.ts'

/** How much a model is to think. `effort` belongs to the output's configuration. */
export interface Thinking {
  readonly thinking: Fields | null
  readonly effort: string | null
}

const UNSAID: Thinking = { thinking: null, effort: null }
/** Models from 4.6 on decide themselves how much to think, and refuse budgets; those before know only budgets. */
const decidesItself = /claude-[a-z]+-(?:4-(?:[6-9]|\d\d)(?!\d)|(?:[5-9]|\d\d)(?!\d))|claude-mythos/
/** The least budget that the API takes. */
const BUDGET_TOKENS_MIN = 1_024
/** The share of the completion that thinking may take, as OpenRouter documents it for its own `effort`. */
const SHARES: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
}

/**
 * OpenAI's `reasoning_effort` as Anthropic's thinking; thinking is within the completion limit, so it costs no more than was
 * held. With a budget the turn that calls tools must begin with the thinking that led to them, signed, and OpenAI's form has
 * no place for that: inside of a tool loop such a model goes on without thinking.
 */
export function thinkingOf(
  effort: Effort | null,
  { model, limit, inToolLoop }: { model: string; limit: number; inToolLoop: boolean },
): Thinking {
  if (effort === null) return UNSAID
  if (decidesItself.test(model)) {
    if (effort === 'none') return { thinking: { type: 'disabled' }, effort: null }
    // Without `display` the newest models show nothing of it, and a stream is silent while they think.
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: effort === 'minimal' ? 'low' : effort }
  }
  if (effort === 'none' || inToolLoop || limit <= BUDGET_TOKENS_MIN) return UNSAID
  const budget = Math.max(BUDGET_TOKENS_MIN, Math.floor(limit * SHARES[effort]))
  return { thinking: { type: 'enabled', budget_tokens: budget }, effort: null }
}
