import { type Fields, isFields } from './json.ts'

/** The arguments of a tool call, which come as JSON in a text. Null when they are no object. */
export function readArguments(text: unknown): Fields | null {
  if (typeof text !== 'string') return null
  try {
    const args: unknown = JSON.parse(text)
    return isFields(args) ? args : null
  } catch {
    return null
  }
}

/**
 * The arguments of all calls in messages, as they stand in the request and as kinds of providers that want objects are sent
 * them. Written again they can be longer: `1e20` then has 21 digits, and `\u00e9` is a character outside of ASCII.
 */
export function rewrittenArguments(messages: unknown): readonly { from: string; to: string }[] {
  return listIn(messages)
    .flatMap(message => listIn(message.tool_calls))
    .flatMap(call => {
      const text = isFields(call.function) ? call.function.arguments : null
      const args = readArguments(text)
      return args ? [{ from: JSON.stringify(text), to: JSON.stringify(args) }] : []
    })
}

function listIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}
