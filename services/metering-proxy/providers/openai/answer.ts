import { type Fields, isFields } from '../../json.ts'
import { UpstreamFailure } from '../failure.ts'
import type { ChatAnswer } from '../provider.ts'
import { failureOf } from './failure.ts'
import { readUsage } from './usage.ts'

/** A whole answer. OpenRouter and others send errors with status 200. */
export function readAnswer(body: unknown): ChatAnswer {
  if (!isFields(body)) throw new UpstreamFailure('failed', 'the provider answered no JSON object')
  if (body.error !== undefined && body.error !== null) throw failureOf(body.error)
  if (!Array.isArray(body.choices)) throw new UpstreamFailure('failed', 'the provider answered without choices')
  const said = body.choices.map(choice => (isFields(choice) && isFields(choice.message) ? saidIn(choice.message) : ''))
  return { body, reported: readUsage(body.usage), text: said.join('') }
}

/** What the model wrote in a message or a delta: text, reasoning, refusals and calls. */
export function saidIn(message: Fields): string {
  const texts = [message.content, message.reasoning_content, message.reasoning, message.refusal]
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  for (const call of [message.function_call, ...calls.map(call => (isFields(call) ? call.function : null))]) {
    if (isFields(call)) texts.push(call.name, call.arguments)
  }
  return texts.filter(text => typeof text === 'string').join('')
}
