import { expect } from 'bun:test'
import { Secret } from '@tollgate/service'
import { type ChatRequest, readChat } from '../chat.ts'
import { type Fields, isFields } from '../json.ts'
import type { ReportedUsage } from '../usage.ts'
import { UpstreamFailure } from './failure.ts'
import type { Provider, StreamReader, Target } from './provider.ts'

/** A request as a caller sends it. */
export function ask(body: Fields): ChatRequest {
  return readChat({ model: 'ours', messages: [{ role: 'user', content: 'hi' }], ...body })
}

export function targetOf(model: string, baseUrl = 'http://127.0.0.1:9/v1'): Target {
  return { baseUrl, apiKey: new Secret('secret-key'), model, limitField: null }
}

/** The body that a provider is sent. */
export function sent(provider: Provider, body: Fields, { model = 'm', limit = 2_000 } = {}): Fields {
  const parsed: unknown = JSON.parse(provider.chat(targetOf(model), ask(body), limit).body)
  if (!isFields(parsed)) throw new Error('no object was sent')
  return parsed
}

/** Why a request is refused before it is sent. */
export function refusalOf(provider: Provider, body: Fields): string {
  try {
    provider.chat(targetOf('m'), ask(body), 100)
  } catch (error) {
    if (error instanceof UpstreamFailure && error.kind === 'refused') return error.message
    throw error
  }
  throw new Error('it was not refused')
}

/** What a stream's events became. */
export interface Streamed {
  readonly chunks: readonly Fields[]
  readonly reports: readonly ReportedUsage[]
  readonly heard: string
  readonly state: StreamReader['state']
}

/** Reads events as a reader is given them. Throws what the reader throws. */
export function streamed(reader: StreamReader, events: readonly unknown[]): Streamed {
  const chunks = events.flatMap(event => reader.read({ name: '', data: JSON.stringify(event) }))
  return {
    chunks: chunks.filter(chunk => chunk.json !== null).map(chunk => fieldsIn(JSON.parse(chunk.json ?? ''))),
    reports: chunks.flatMap(chunk => chunk.reported ?? []),
    heard: chunks.map(chunk => chunk.text).join(''),
    state: reader.state,
  }
}

interface Assembled {
  text: string
  reasoning: string
  calls: { id: string; name: string; arguments: string }[]
  finish: string | null
}

/**
 * Puts the chunks of one choice together as OpenAI's clients do, and holds them to what those rely on: one id, the role first
 * and once, one finish and nothing after it, calls numbered in order, each with its id and name at its beginning only.
 */
export function assembled(chunks: readonly Fields[], index = 0): Assembled {
  const whole: Assembled = { text: '', reasoning: '', calls: [], finish: null }
  const choices = chunks.flatMap(chunk => listIn(chunk.choices)).filter(choice => choice.index === index)
  expect(new Set(chunks.map(chunk => chunk.id)).size).toBe(1)
  for (const [place, choice] of choices.entries()) {
    const delta = fieldsIn(choice.delta)
    expect(delta.role).toBe(place === 0 ? 'assistant' : undefined)
    expect(whole.finish).toBeNull()
    whole.text += textIn(delta.content)
    whole.reasoning += textIn(delta.reasoning_content)
    for (const call of listIn(delta.tool_calls)) addCall(whole, call)
    if (choice.finish_reason !== null) whole.finish = textIn(choice.finish_reason)
  }
  return whole
}

function addCall(whole: Assembled, call: Fields): void {
  const named = fieldsIn(call.function)
  if (call.id === undefined) {
    expect(call.index).toBe(whole.calls.length - 1)
    const last = whole.calls.at(-1)
    if (last) last.arguments += textIn(named.arguments)
  } else {
    expect(call).toMatchObject({ index: whole.calls.length, type: 'function' })
    whole.calls.push({ id: textIn(call.id), name: textIn(named.name), arguments: textIn(named.arguments) })
  }
}

function fieldsIn(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function listIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
