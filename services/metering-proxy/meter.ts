import type { Log } from '@tollgate/service'
import type { Model } from './catalogue.ts'
import type { Charge, Outcome } from './charge.ts'
import type { ChatRequest } from './chat.ts'
import { countUsage, listener } from './count.ts'
import type { WorstCase } from './estimate.ts'
import type { Life } from './lives.ts'
import { costMicro as costOf } from './price.ts'
import type { Telemetry } from './telemetry.ts'
import { type ReportedUsage, shownUsage, type Usage } from './usage.ts'

/** One admitted request, from its hold on. */
export interface Admitted {
  readonly chat: ChatRequest
  readonly model: Model
  readonly worst: WorstCase
  readonly charge: Charge
  /** The completion limit that is sent upstream. */
  readonly limit: number
  readonly life: Life
  readonly telemetry: Telemetry
  readonly log: Log
}

/** What came of it: the charge, and the usage to show. */
export interface Bill {
  readonly costMicro: bigint
  readonly estimated: boolean
  readonly shown: Readonly<Record<string, unknown>>
}

/** Listens to an answer and turns it into a bill. */
export interface Meter {
  hear(text: string): void
  /** The latest report wins. */
  report(reported: ReportedUsage | null): void
  /** True once the model has said anything. */
  readonly heard: boolean
  /** `broken`: the answer ended before its end, so that what was reported may have been a beginning. */
  bill(end: { outcome: Outcome; route: string; broken?: boolean }): Promise<Bill>
}

const NOTHING: Usage = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0 }
const CHARS_PER_TOKEN = 4

/** Pieces of a stream are a token or more each. */
export function openMeter({ chat, model, worst, charge, telemetry, log }: Admitted): Meter {
  const said = listener()
  let pieces = 0
  let reported: ReportedUsage | null = null

  /** The report, or our count where there is none; of a broken answer, whichever has more output. */
  async function usageOf(broken: boolean): Promise<{ usage: Usage; estimated: boolean }> {
    // A report without output, where some was heard, is of the prompt only or of nothing at all.
    const report = reported && (reported.usage.completionTokens > 0 || said.chars === 0) ? reported.usage : null
    if (report && !broken) return { usage: report, estimated: false }
    const counted = await countUsage(chat, worst, said)
    if (!report) return { usage: counted, estimated: true }
    if (report.completionTokens >= counted.completionTokens) return { usage: report, estimated: false }
    return { usage: { ...report, completionTokens: counted.completionTokens }, estimated: true }
  }

  /** What a crash would charge: nothing before the first output, then what was reported or about what was said. */
  charge.track(() => {
    if (said.chars === 0) return NOTHING
    const saidTokens = Math.max(pieces, Math.ceil(said.chars / CHARS_PER_TOKEN))
    const usage = reported?.usage ?? { ...NOTHING, promptTokens: worst.likelyPromptTokens }
    return { ...usage, completionTokens: Math.max(usage.completionTokens, saidTokens) }
  })

  return {
    hear(text) {
      if (text === '') return
      said.hear(text)
      pieces++
    },
    report(latest) {
      reported = latest ?? reported
    },
    get heard() {
      return said.chars > 0
    },
    async bill({ outcome, route, broken = false }) {
      const { usage, estimated } = await usageOf(broken)
      const formulaMicro = costOf(usage, model.prices)
      if (formulaMicro > charge.grantedMicro) {
        // Our bound or the provider's count is wrong: the operator should know which.
        log.error({ requestId: charge.requestId, model: model.id, route, usage, alert: true }, 'usage exceeds its hold')
      }
      const costMicro = await charge.settle({ usage, estimated, outcome, route })
      telemetry.charged(model.id, { outcome, estimated, costMicro })
      return { costMicro, estimated, shown: estimated || !reported ? shownUsage(usage) : reported.shown }
    },
  }
}

/** The `usage_ext` of an answer (interface.md, "Usage extension"). */
export function usageExt(
  { costMicro, estimated }: Pick<Bill, 'costMicro' | 'estimated'>,
  { chat }: Admitted,
  limit: number,
) {
  return {
    cost_micro: Number(costMicro),
    ...(estimated && { estimated: true }),
    // Said where it is not what the caller asked for.
    ...(chat.limit !== limit && { max_tokens: limit }),
  }
}
