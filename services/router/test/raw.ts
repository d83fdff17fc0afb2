import { createConnection } from 'node:net'

export interface RawAnswer {
  /** 0 where the connection was closed without an answer. */
  status: number
  headers: Headers
  body: string
  /** How the connection ended: an error code, or '' for an orderly end. */
  ending: string
}

export interface RawOptions {
  host?: string
  /** Waits no longer for the other side to close. */
  withinMs?: number
}

/** Writes bytes as they stand, ends our side when something was answered, and reads until the other side closes. */
export async function raw(
  port: number,
  text: string | Uint8Array,
  { host = '127.0.0.1', withinMs = 3_000 }: RawOptions = {},
): Promise<RawAnswer> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = createConnection({ host, port })
  const chunks: Buffer[] = []
  let ending = ''
  const timer = setTimeout(() => socket.destroy(), withinMs)
  socket.on('data', chunk => {
    chunks.push(chunk)
    if (isWhole(Buffer.concat(chunks).toString('latin1'))) socket.end()
  })
  socket.on('error', error => {
    ending = 'code' in error ? String(error.code) : error.message
  })
  socket.on('close', () => resolve())
  socket.write(text)
  await promise
  clearTimeout(timer)
  return parse(Buffer.concat(chunks).toString('latin1'), ending)
}

function isWhole(text: string): boolean {
  const { headers, body } = parse(text, '')
  const length = headers.get('content-length')
  return length !== null && body.length >= Number(length)
}

function parse(text: string, ending: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: rest.join('\r\n\r\n'), ending }
}
