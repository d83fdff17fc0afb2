import { PublicError } from '@tollgate/contracts'
import { accountOf, type Log } from '@tollgate/service'
import { answerTo } from './answers.ts'
import type { Catalogue } from './catalogue.ts'
import { readChat } from './chat.ts'
import { chatTask } from './chat-task.ts'
import { grantedLimit, worstCase } from './estimate.ts'
import type { Holds } from './holds.ts'
import { parseBody } from './json.ts'
import type { Life, Lives } from './lives.ts'
import { type Admitted, openMeter, usageExt } from './meter.ts'
import { usableModel } from './models.ts'
import type { Tap } from './once.ts'
import { UpstreamFailure } from './providers/failure.ts'
import { relay } from './relay.ts'
import { streamed, type Texts } from './stream.ts'
import { type Opened, openUpstream, type UpstreamOptions } from './upstream.ts'
import { within } from './within.ts'

export interface CompletionsOptions extends UpstreamOptions {
  readonly catalogue: Catalogue
  readonly holds: Holds
  readonly lives: Lives
  readonly log: Log
  readonly pingMs: number
  /** Sees the texts of a stream, whether or not its caller still reads them. */
  readonly tap?: Tap
}

/** A provider that is silent longer has its caller's stream begun without it: pings then keep the connection. */
const BEGIN_WITHOUT_MS = 15_000

/**
 * A chat completion (interface.md, `POST /v1/chat/completions`): hold the worst case, call a provider, relay, settle.
 * Everything that can be refused is refused before the hold, and everything that fails before output costs nothing.
 */
export async function complete(request: Request, body: Uint8Array, options: CompletionsOptions): Promise<Response> {
  const begunAt = performance.now()
  const caller = accountOf(request)
  const chat = readChat(parseBody(body))
  const model = usableModel(options.catalogue, chat.model, { type: 'chat', allowed: caller.models })
  const worst = worstCase(chat, model)
  const holdAt = performance.now()
  const charge = await options.holds.open(caller, worst, model)
  options.telemetry.took('hold', holdAt)
  const limit = grantedLimit(worst, charge.grantedMicro, model)
  const life = options.lives.begin()
  const { telemetry, log } = options
  const admitted: Admitted = { chat, model, worst, charge, limit, life, telemetry, log }
  const task = chatTask(chat, model, worst)
  const opening = openUpstream({ requestId: caller.rid, model, task, limit, life: life.signal }, options)
  if (chat.stream) return stream(admitted, opening, { ...options, request })
  const answer = await whole(admitted, opening, request)
  telemetry.took('whole', begunAt)
  return answer
}

/** The answer as one body. A caller who leaves is not waited for: the provider's answer is, since it will be billed. */
async function whole(admitted: Admitted, opening: Promise<Opened>, request: Request): Promise<Response> {
  try {
    const opened = await opening
    const meter = openMeter(admitted)
    meter.report(opened.answer?.reported ?? null)
    meter.hear(opened.answer?.text ?? '')
    const endedAt = performance.now()
    const bill = await meter.bill({
      outcome: request.signal.aborted ? 'aborted' : 'completed',
      route: opened.route.name,
    })
    admitted.telemetry.took('settle', endedAt)
    const usage_ext = usageExt(bill, admitted, opened.limit)
    return Response.json({ ...opened.answer?.body, usage: bill.shown, usage_ext })
  } catch (error) {
    await admitted.charge.release()
    throw error instanceof UpstreamFailure ? answerTo(error) : error
  } finally {
    admitted.life.end()
  }
}

/** The answer as events. Until a provider answers, a failure still is an error answer. */
async function stream(
  admitted: Admitted,
  opening: Promise<Opened>,
  { request, pingMs, tap }: Pick<CompletionsOptions, 'pingMs' | 'tap'> & { request: Request },
): Promise<Response> {
  const { life, charge } = admitted
  request.signal.addEventListener('abort', life.abandon, { once: true })
  try {
    await within(opening, BEGIN_WITHOUT_MS)
  } catch (error) {
    // Of a caller who left the relay makes the bill.
    if (!life.abandoned) {
      life.end()
      await charge.release()
      throw error instanceof UpstreamFailure ? answerTo(error) : error
    }
  }
  const texts = ended(relay(admitted, opening), life)
  return streamed(tap ? tap(texts) : texts, request.signal, { pingMs, onLeave: life.abandon })
}

async function* ended(texts: Texts, life: Life): Texts {
  try {
    return yield* texts
  } finally {
    life.end()
  }
}

/** The body's bytes, read before the connection's idle timer is lifted. */
export async function bytesOf(request: Request): Promise<Uint8Array> {
  try {
    return new Uint8Array(await request.arrayBuffer())
  } catch {
    throw new PublicError('bad_request', 'the body could not be read')
  }
}
