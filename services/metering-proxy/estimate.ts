import { PublicError } from '@tollgate/contracts'
import { rewrittenArguments } from './call-arguments.ts'
import type { Model } from './catalogue.ts'
import type { ChatRequest } from './chat.ts'
import { mediaKinds } from './media.ts'
import { dearestInMicro, perMillion, tokensFor } from './price.ts'
import type { PromptBound } from './providers/provider.ts'

/** The most that a request can cost, whatever the provider does within the limit that we send it. */
export interface WorstCase {
  /** No prompt of this request is longer. */
  readonly promptTokens: number
  /** What the prompt will be, about; used where a bound would take room from the completion. */
  readonly likelyPromptTokens: number
  readonly mediaTokens: number
  readonly choices: number
  /** Completion tokens beyond the limit: rejected predicted tokens are billed as output. */
  readonly extraTokens: number
  /** The completion limit: between these, as the grant allows. Equal when the caller gave one. */
  readonly limitMin: number
  readonly limitMax: number
  readonly minMicro: bigint
  readonly maxMicro: bigint
}

const BYTES_PER_TOKEN = 4

/**
 * The worst case over all routes that may serve the request. Throws 400 when the model has no bound for a kind of media in it.
 */
export function worstCase(chat: ChatRequest, model: Model): WorstCase {
  const text = textOf(chat)
  const media = mediaTokens(chat, model)
  const rewritten = rewrittenArguments(chat.body.messages).map(({ from, to }) => ({
    from: sizeOf(from),
    to: sizeOf(to),
  }))
  const growth = (bound: PromptBound) =>
    rewritten.reduce((sum, { from, to }) => sum + Math.max(0, bytesBound(to, bound) - bytesBound(from, bound)), 0)
  const bounds = model.routes.map(({ bound }) => promptBound(chat, text, bound) + growth(bound))
  const promptTokens = Math.min(model.contextTokens, Math.max(...bounds) + media)
  const likelyPromptTokens = Math.min(promptTokens, Math.ceil(text.bytes / BYTES_PER_TOKEN) + media)
  const extraTokens = predictedTokens(chat)
  const room = Math.max(1, model.contextTokens - likelyPromptTokens)
  const limitMax = Math.min(chat.limit ?? model.maxOutputTokens, model.maxOutputTokens, room)
  const limitMin = chat.limit === null ? Math.min(model.minCompletionTokens, limitMax) : limitMax
  const shape = {
    promptTokens,
    likelyPromptTokens,
    mediaTokens: media,
    choices: chat.choices,
    extraTokens,
    limitMin,
    limitMax,
  }
  return { ...shape, minMicro: worstMicro(shape, limitMin, model), maxMicro: worstMicro(shape, limitMax, model) }
}

/** The completion limit that a grant between `minMicro` and `maxMicro` pays for. */
export function grantedLimit(worst: WorstCase, grantedMicro: bigint, model: Model): number {
  if (grantedMicro >= worst.maxMicro || model.prices.outMicro === 0n) return worst.limitMax
  const prompt = BigInt(worst.promptTokens) * dearestInMicro(model.prices)
  const outMicro = model.prices.outMicro
  // What the rounded-up prompt leaves, in the unit of the prices, so that nothing is rounded twice.
  const left = tokensFor(grantedMicro, 1n) - prompt - BigInt(worst.extraTokens) * outMicro
  const limit = Number(left / (outMicro * BigInt(worst.choices)))
  return Math.max(worst.limitMin, Math.min(limit, worst.limitMax))
}

function worstMicro(
  shape: Pick<WorstCase, 'promptTokens' | 'choices' | 'extraTokens'>,
  limit: number,
  { prices }: Model,
): bigint {
  const completionTokens = BigInt(shape.choices) * BigInt(limit) + BigInt(shape.extraTokens)
  return perMillion(BigInt(shape.promptTokens) * dearestInMicro(prices) + completionTokens * prices.outMicro)
}

/**
 * Tokens ≤ bytes: a byte-level tokenizer makes at least one byte into each token. Everything that was sent counts, JSON
 * punctuation included, so that no field that a model reads can be forgotten; media payloads are counted by the item.
 * A tokenizer that normalizes its text can make it longer, but never its ASCII: only the other bytes are multiplied.
 */
function promptBound(chat: ChatRequest, text: TextSize, bound: PromptBound): number {
  const tools = sizeOf(JSON.stringify([chat.body.tools, chat.body.functions, chat.body.response_format]))
  const items =
    lengthOf(chat.body.messages) * bound.perMessage + lengthOf(chat.body.tools ?? chat.body.functions) * bound.perTool
  // Templates write schemas again: indented, or as type declarations. That at most doubles what JSON takes.
  return bound.perRequest + items + bytesBound(text, bound) + bytesBound(tools, bound)
}

/** Tokens of a text at most, by its bytes. */
export function bytesBound({ bytes, units }: TextSize, { byteMultiplier }: PromptBound): number {
  // A character takes 1 byte and 1 unit (ASCII), 2 and 1, 3 and 1, or 4 and 2: so this is at least the bytes that are not ASCII.
  const otherBytes = Math.max(0, Math.min(bytes, 2 * (bytes - units)))
  return Math.ceil(bytes + otherBytes * (byteMultiplier - 1))
}

interface TextSize {
  readonly bytes: number
  readonly units: number
}

function textOf({ text, media }: ChatRequest): TextSize {
  const whole = sizeOf(text)
  return { bytes: whole.bytes - media.bytes, units: whole.units - media.units }
}

export function sizeOf(text: string): TextSize {
  return { bytes: Buffer.byteLength(text), units: text.length }
}

function mediaTokens({ media }: ChatRequest, model: Model): number {
  let tokens = 0
  for (const kind of mediaKinds) {
    if (media.counts[kind] === 0) continue
    const each = model.mediaTokens[kind]
    if (each === undefined) throw new PublicError('bad_request', `the model "${model.id}" takes no ${kind} input`)
    tokens += media.counts[kind] * each
  }
  return tokens
}

function predictedTokens({ body }: ChatRequest): number {
  return body.prediction == null ? 0 : sizeOf(JSON.stringify(body.prediction)).bytes
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}
