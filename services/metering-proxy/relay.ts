import { errorBody, type PublicError } from '@tollgate/contracts'
import { answerTo } from './answers.ts'
import { isFields } from './json.ts'
import { type Admitted, type Bill, type Meter, openMeter, usageExt } from './meter.ts'
import { UpstreamFailure } from './providers/failure.ts'
import type { Texts } from './stream.ts'
import type { Opened } from './upstream.ts'

const END = 'data: [DONE]\n\n'

/**
 * The text of a streamed answer, as it comes: each piece is what one read of the provider gave. The charge is settled before
 * the last chunk, which carries it. A failure becomes an error event (before any output it costs nothing), never a clean end.
 * Returns whether anything was charged.
 */
export async function* relay(admitted: Admitted, opening: Promise<Opened>): Texts {
  const meter = openMeter(admitted)
  let opened: Opened | undefined
  try {
    opened = await opening
    yield* pieces(admitted, opened, meter)
    return true
  } catch (error) {
    const failure =
      error instanceof UpstreamFailure ? error : new UpstreamFailure('failed', 'the relay failed', { cause: error })
    const { text, charged } = await failed(admitted, opened, meter, failure)
    yield text
    return charged
  }
}

async function* pieces(admitted: Admitted, opened: Opened, meter: Meter): AsyncGenerator<string> {
  const { includeUsage } = admitted.chat
  let last = ''
  // The chunk that ends the answer waits for the bill, unless a chunk with the usage follows it.
  let held: string | null = null
  for await (const chunks of opened.chunks ?? []) {
    let text = ''
    for (const { json, text: said, finishes, reported } of chunks) {
      meter.report(reported)
      meter.hear(said)
      if (json === null) continue
      last = json
      if (held !== null) text += frame(held)
      held = finishes && !includeUsage ? json : null
      if (held === null) text += frame(json)
    }
    if (text !== '') yield text
  }
  const bill = await meter.bill({
    outcome: admitted.life.abandoned ? 'aborted' : 'completed',
    route: opened.route.name,
  })
  yield ending(admitted, opened, bill, { held, last }) + END
}

/** The last chunk with data: the usage where it was asked for, else the one that ends the answer; `usage_ext` is in it. */
function ending(
  admitted: Admitted,
  opened: Opened,
  bill: Bill,
  { held, last }: { held: string | null; last: string },
): string {
  const ext = usageExt(bill, admitted, opened.limit)
  if (held !== null) return frame(`${held.slice(0, held.lastIndexOf('}'))},"usage_ext":${JSON.stringify(ext)}}`)
  const usage = admitted.chat.includeUsage ? { usage: bill.shown } : {}
  return frame(JSON.stringify({ ...headOf(last), choices: [], ...usage, usage_ext: ext }))
}

/** What all chunks of an answer share. */
function headOf(chunk: string): object {
  const fields: unknown = chunk === '' ? {} : JSON.parse(chunk)
  const { id, created, model, service_tier, system_fingerprint } = isFields(fields) ? fields : {}
  return { id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint }
}

async function failed(
  admitted: Admitted,
  opened: Opened | undefined,
  meter: Meter,
  failure: UpstreamFailure,
): Promise<{ text: string; charged: boolean }> {
  const outcome = failure.detail.outcome ?? 'failed'
  const { log, charge, model, limit } = admitted
  const route = opened?.route.name ?? failure.detail.asked
  log.warn({ requestId: charge.requestId, model: model.id, route, outcome, err: failure }, 'a stream broke')
  const error = errorOf(answerTo(failure))
  // A caller who left pays for what was begun, the prompt at least; a failure that gave no output costs nothing.
  if (route === undefined || (!meter.heard && outcome !== 'aborted')) {
    await admitted.charge.release()
    return { text: frame(JSON.stringify(error)), charged: false }
  }
  const bill = await meter.bill({ outcome, route, broken: true })
  const text = frame(JSON.stringify({ ...error, usage_ext: usageExt(bill, admitted, opened?.limit ?? limit) }))
  return { text, charged: true }
}

function errorOf({ code, message }: PublicError) {
  return errorBody(code, message)
}

function frame(json: string): string {
  return `data: ${json}\n\n`
}
