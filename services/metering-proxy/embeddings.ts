import { PublicError } from '@tollgate/contracts'
import { accountOf } from '@tollgate/service'
import { answerTo } from './answers.ts'
import type { Task } from './attempt.ts'
import type { Model } from './catalogue.ts'
import { modelOf } from './chat.ts'
import type { CompletionsOptions } from './completions.ts'
import { tokensIn } from './count.ts'
import { bytesBound, sizeOf } from './estimate.ts'
import { type Fields, isFields, parseBody } from './json.ts'
import { usableModel } from './models.ts'
import { dearestInMicro, perMillion } from './price.ts'
import { UpstreamFailure } from './providers/failure.ts'
import type { ChatAnswer } from './providers/provider.ts'
import { openUpstream } from './upstream.ts'
import { type Usage, usageOf } from './usage.ts'

/** OpenAI's own bound. */
const INPUTS_MAX = 2_048

/** `POST /v1/embeddings`: held, called and settled as a completion is, with a prompt and no output. */
export async function embed(request: Request, bytes: Uint8Array, options: CompletionsOptions): Promise<Response> {
  const caller = accountOf(request)
  const body = parseBody(bytes)
  const inputs = inputsOf(body.input)
  const model = usableModel(options.catalogue, modelOf(body.model), { type: 'embedding', allowed: caller.models })
  const worstMicro = perMillion(BigInt(promptBound(body, inputs, model)) * dearestInMicro(model.prices))
  const charge = await options.holds.open(caller, { minMicro: worstMicro, maxMicro: worstMicro }, model)
  const life = options.lives.begin()
  try {
    const call = { requestId: caller.rid, model, task: embeddingsTask(body), limit: 0, life: life.signal }
    const { answer, route } = await openUpstream(call, options)
    const reported = answer?.reported
    const usage = reported?.usage ?? (await counted(inputs))
    const estimated = !reported
    const outcome = request.signal.aborted ? 'aborted' : 'completed'
    const costMicro = await charge.settle({ usage, estimated, outcome, route: route.name })
    options.telemetry.charged(model.id, { outcome, estimated, costMicro })
    const usage_ext = { cost_micro: Number(costMicro), ...(estimated && { estimated }) }
    return Response.json({ ...answer?.body, usage: reported?.shown ?? shown(usage), usage_ext })
  } catch (error) {
    await charge.release()
    throw error instanceof UpstreamFailure ? answerTo(error) : error
  } finally {
    life.end()
  }
}

type Input = string | readonly number[]

/** One text, several texts, one array of tokens, or several. */
function inputsOf(input: unknown): readonly Input[] {
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
  const fits = (value: unknown): value is Input =>
    (typeof value === 'string' && value !== '') ||
    (Array.isArray(value) && value.length > 0 && value.every(token => Number.isSafeInteger(token) && token >= 0))
  if (inputs.length === 0 || inputs.length > INPUTS_MAX || !inputs.every(fits)) {
    throw new PublicError(
      'bad_request',
      `"input" must be a text, tokens, or a list of up to ${INPUTS_MAX} of them, none empty`,
    )
  }
  return inputs
}

/** Every token takes a byte at least, as text or as a number; none of the inputs is longer than the context. */
function promptBound(body: Fields, inputs: readonly Input[], model: Model): number {
  const size = sizeOf(JSON.stringify(body))
  const bounds = model.routes.map(({ bound }) => bytesBound(size, bound) + bound.perMessage * inputs.length)
  return Math.min(Math.max(...bounds), model.contextTokens * inputs.length)
}

function embeddingsTask(body: Fields): Task {
  return {
    request({ provider, target, name }) {
      if (!provider.embeddings) throw new UpstreamFailure('failed', `${name} has no embeddings`)
      return provider.embeddings(target, body)
    },
    answer: (_route, answer) => readEmbeddings(answer),
    reader: null,
    smaller: () => null,
  }
}

function readEmbeddings(body: unknown): ChatAnswer {
  if (!isFields(body) || !Array.isArray(body.data))
    throw new UpstreamFailure('failed', 'the provider answered no embeddings')
  const usage = isFields(body.usage) ? usageOf({ prompt: body.usage.prompt_tokens, completion: 0 }) : null
  return { body, reported: usage && isFields(body.usage) ? { usage, shown: body.usage } : null, text: '' }
}

async function counted(inputs: readonly Input[]): Promise<Usage> {
  const tokens = await Promise.all(
    inputs.map(input => (typeof input === 'string' ? tokensIn({ text: input, chars: input.length }) : input.length)),
  )
  const promptTokens = tokens.reduce((sum, count) => sum + count, 0)
  return { promptTokens, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0 }
}

function shown({ promptTokens }: Usage) {
  return { prompt_tokens: promptTokens, total_tokens: promptTokens }
}
