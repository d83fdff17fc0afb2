import { freePort } from '@tollgate/process'
import type { Behaviour, Wire } from './raw.ts'

export { type Behaviour, type RawUpstream, startRaw, type Wire } from './raw.ts'

/** The usage that a well-behaved answer of this file reports. */
export const HONEST_USAGE = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 }
const WORDS = ['One', ' two', ' three']

/** How a hostile provider streams. By default: three words, a finish, its usage, `[DONE]`, an orderly end. */
export interface StreamOptions {
  words?: readonly string[]
  /** The usage events' values, each in an event of its own; what `usage` would be in JSON, however wrong. */
  usages?: readonly unknown[]
  finish?: boolean
  done?: boolean
  newline?: string
  /** Events put after the words, as they are. */
  extra?: readonly string[]
  /** Bytes per write. */
  pieceBytes?: number
  end?: End
}

/** `fin`: an orderly end. `cut`: a FIN where more was announced. `reset`: a RST. `hang`: nothing more, and no end. */
type End = 'fin' | 'cut' | 'reset' | 'hang'

/** An event with a chunk of the answer. */
export function chunkEvent(content: string | null, finish: string | null = null, newline = '\n'): string {
  const delta = content === null ? {} : { content }
  return dataEvent({ ...chunkHead, choices: [{ index: 0, delta, finish_reason: finish }] }, newline)
}

export function dataEvent(data: unknown, newline = '\n'): string {
  return `data: ${JSON.stringify(data)}${newline}${newline}`
}

const chunkHead = { id: 'chatcmpl-hostile', object: 'chat.completion.chunk', created: 1, model: 'hostile' }

export function streamText(options: StreamOptions): string {
  const newline = options.newline ?? '\n'
  const events = (options.words ?? WORDS).map(word => chunkEvent(word, null, newline))
  events.push(...(options.extra ?? []))
  if (options.finish !== false) events.push(chunkEvent(null, 'stop', newline))
  for (const usage of options.usages ?? [HONEST_USAGE]) {
    events.push(dataEvent({ ...chunkHead, choices: [], usage }, newline))
  }
  if (options.done !== false) events.push(`data: [DONE]${newline}${newline}`)
  return events.join('')
}

const STREAM_HEAD = head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' })

/** The start of an answer whose end is the connection's. */
export function head(status: number, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Hostile\r\n${lines.join('')}\r\n`
}

/** Streams as the options say. */
export function streams(options: StreamOptions = {}): Behaviour {
  return streamsText(streamText(options), options)
}

/** Streams any text, in chunked encoding as providers do. */
export function streamsText(text: string, { end = 'fin', pieceBytes }: StreamOptions = {}): Behaviour {
  return async wire => {
    await wire.write(STREAM_HEAD)
    const bytes = Buffer.from(text)
    for (let start = 0; start < bytes.length; start += pieceBytes ?? bytes.length) {
      if (!(await writeChunk(wire, bytes.subarray(start, start + (pieceBytes ?? bytes.length))))) return
      // Lets the kernel send each piece by itself.
      if (pieceBytes) await new Promise(resolve => setImmediate(resolve))
    }
    if (end === 'fin') await wire.write('0\r\n\r\n')
    finish(wire, end)
  }
}

function writeChunk(wire: Wire, bytes: Uint8Array): Promise<boolean> {
  return wire.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]))
}

/** A JSON answer (or anything else) with this status. */
export function answers(status: number, body: string, headers: Record<string, string> = {}): Behaviour {
  return async wire => {
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    await wire.write(head(status, { 'content-type': 'application/json', ...length, ...headers }) + body)
    wire.end()
  }
}

/** A whole completion as JSON; `usage` as wrong as wanted, and left out when it is given as undefined. */
export function completionText(options: { usage?: unknown } = {}): string {
  const usage = 'usage' in options ? options.usage : HONEST_USAGE
  const choice = { index: 0, message: { role: 'assistant', content: WORDS.join('') }, finish_reason: 'stop' }
  return JSON.stringify({
    id: 'chatcmpl-hostile',
    object: 'chat.completion',
    created: 1,
    model: 'hostile',
    choices: [choice],
    usage,
  })
}

export function errorText(message: string, code = 'hostile'): string {
  return JSON.stringify({ error: { message, type: 'hostile_error', param: null, code } })
}

function finish(wire: Wire, end: End): void {
  if (end === 'fin' || end === 'cut') wire.end()
  if (end === 'reset') wire.reset()
}

const hang = () => {}
const writeThen = (text: string, end: End): Behaviour => {
  return async wire => {
    await wire.write(text)
    finish(wire, end)
  }
}
const BIG_EVENT_CHARS = 10 * 1024 * 1024
const LONG_LINE = Buffer.alloc(64 * 1024, 'x')
const words = WORDS.map(word => chunkEvent(word)).join('')

/** Ways in which the connection itself fails, whatever was asked. */
export const connectionFaults = {
  'hangs before headers': hang,
  'hangs within headers': writeThen('HTTP/1.1 200 OK\r\ncontent-type: text/ev', 'hang'),
  'resets before headers': wire => wire.reset(),
  'ends before headers': wire => wire.end(),
  'resets within headers': writeThen('HTTP/1.1 200 OK\r\ncontent-ty', 'reset'),
  'is not HTTP': writeThen('SSH-2.0-OpenSSH_9.2\r\n', 'fin'),
  'redirects inside': writeThen(head(302, { location: 'http://127.0.0.1:1/internal', 'content-length': '0' }), 'fin'),
} as const satisfies Record<string, Behaviour>

/** Ways in which a stream fails after its headers, or merely looks odd. */
export const streamFaults = {
  'hangs after headers': streamsText('', { end: 'hang' }),
  'resets after headers': streamsText('', { end: 'reset' }),
  'ends after headers': streamsText(''),
  'hangs after words': streamsText(words, { end: 'hang' }),
  'resets after words': streamsText(words, { end: 'reset' }),
  'is cut after words': streamsText(words, { end: 'cut' }),
  'ends after words': streamsText(words),
  'drips single bytes': streams({ pieceBytes: 1 }),
  'splits UTF-8': streams({ words: ['Grüße', ' 🦀', ' 河'], pieceBytes: 3 }),
  'sends invalid UTF-8': async wire => {
    await wire.write(STREAM_HEAD)
    await writeChunk(wire, Buffer.from(words))
    await writeChunk(wire, Buffer.from([...Buffer.from('data: {"choices":[],"x":"'), 0xff, 0xfe]))
    await writeChunk(wire, Buffer.from('"}\n\n'))
    await wire.write('0\r\n\r\n')
    wire.end()
  },
  'uses CRLF': streams({ newline: '\r\n' }),
  'uses CR': streams({ newline: '\r' }),
  'sends comments': streams({ extra: [': keep-alive\n\n', ':\n'] }),
  'sends a 10 MB event': streams({ extra: [chunkEvent('x'.repeat(BIG_EVENT_CHARS))] }),
  'sends no [DONE]': streams({ done: false }),
  'sends no finish, but [DONE]': streams({ finish: false }),
  'hangs after [DONE]': streams({ end: 'hang' }),
  'sends words after [DONE]': streamsText(streamText({}) + words),
  'sends an error event first': streamsText(dataEvent(JSON.parse(errorText('overloaded')))),
  'sends an error event after words': streamsText(words + dataEvent(JSON.parse(errorText('overloaded')))),
  'sends malformed JSON': streamsText(`${words}data: {"choices":[{\n\n`),
  'sends a chunk without choices': streamsText(`${words}data: {"hello":1}\n\n`),
  'never ends': async wire => {
    await wire.write(STREAM_HEAD)
    while (await writeChunk(wire, Buffer.from(chunkEvent(' more')))) {
      // Until its reader leaves.
    }
  },
  'never ends a line': async wire => {
    await wire.write(STREAM_HEAD)
    while (await writeChunk(wire, LONG_LINE)) {
      // Until its reader leaves.
    }
  },
  'answers JSON to a stream': answers(200, completionText()),
  'has a bad chunk size': writeThen(`${STREAM_HEAD}zz\r\nboo`, 'fin'),
} as const satisfies Record<string, Behaviour>

/** Ways in which a whole answer fails or lies. */
export const bodyFaults = {
  'answers an error with 200': answers(200, errorText('no credits at the provider')),
  'answers HTML': answers(200, '<html><body>502 Bad Gateway</body></html>', { 'content-type': 'text/html' }),
  'answers nothing': answers(200, ''),
  'answers 204': writeThen(head(204), 'fin'),
  'answers cut JSON': answers(200, completionText().slice(0, 40)),
  'answers an array': answers(200, '[]'),
  'resets within the body': writeThen(
    head(200, { 'content-type': 'application/json', 'content-length': '500' }) + completionText().slice(0, 40),
    'reset',
  ),
  'hangs within the body': writeThen(
    head(200, { 'content-type': 'application/json', 'content-length': '500' }) + completionText().slice(0, 40),
    'hang',
  ),
  'never ends the body': async wire => {
    await wire.write(`${head(200, { 'content-type': 'application/json' })}{"x":"`)
    while (await wire.write(LONG_LINE)) {
      // Until its reader leaves.
    }
  },
} as const satisfies Record<string, Behaviour>

/** What a provider may report as usage, besides the truth. `undefined`: nothing. */
export const usageLies = {
  missing: undefined,
  null: null,
  empty: {},
  zero: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  negative: { prompt_tokens: -10, completion_tokens: -3, total_tokens: -13 },
  huge: { prompt_tokens: 1e15, completion_tokens: 1e15, total_tokens: 2e15 },
  unsafe: { prompt_tokens: 1e300, completion_tokens: 2 ** 53, total_tokens: 1e300 },
  fraction: { prompt_tokens: 10.5, completion_tokens: 3.5, total_tokens: 14 },
  text: { prompt_tokens: '10', completion_tokens: '3', total_tokens: '13' },
  array: [10, 3],
  'cached beyond prompt': { ...HONEST_USAGE, prompt_tokens_details: { cached_tokens: 1e6 } },
  'total that is no sum': { prompt_tokens: 10, completion_tokens: 3, total_tokens: 1 },
} as const

/** A base URL where nobody listens: connections are refused. */
export function refusingUrl(): string {
  return `http://127.0.0.1:${freePort()}/v1`
}
