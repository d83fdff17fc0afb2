/** One server-sent event: what a provider's stream is made of. */
export interface ServerEvent {
  /** The `event` field; empty when there was none. */
  readonly name: string
  readonly data: string
}

/** Bytes of one event at most: images come as data URLs in one, and nothing sensible is larger. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024
const LF = 10
const CR = 13

/** Reads events from bytes that are cut anywhere: inside a character, between CR and LF, before the blank line. */
export interface EventDecoder {
  /** The events that these bytes complete. Throws when an event is too large or not UTF-8. */
  push(bytes: Uint8Array): ServerEvent[]
  /** At the end of the stream: the event that lacks only its blank line. */
  end(): ServerEvent[]
}

/**
 * The event stream format of the HTML standard, §9.2.6, with its line ends LF, CRLF and CR. Lines are found in the bytes and
 * decoded whole, so that a character that is split between two reads stays whole. Unlike a browser it dispatches an event
 * without its blank line at the end, since several providers leave that out.
 */
export function eventDecoder(): EventDecoder {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** The beginning of a line whose end has not come, in a buffer that doubles: pieces may be single bytes. */
  let rest = new Uint8Array(0)
  let restBytes = 0
  let afterCr = false
  let name = ''
  let data: string[] = []
  let first = true
  let eventBytes = 0

  function line(text: string, events: ServerEvent[]): void {
    const content = first && text.startsWith('\ufeff') ? text.slice(1) : text
    first = false
    if (content === '') {
      dispatch(events)
      return
    }
    const colon = content.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? content : content.slice(0, colon)
    const value = colon < 0 ? '' : content.slice(content[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') name = value
  }

  function dispatch(events: ServerEvent[]): void {
    if (data.length > 0) events.push({ name, data: data.length === 1 ? (data[0] ?? '') : data.join('\n') })
    data = []
    name = ''
    eventBytes = 0
  }

  function take(part: Uint8Array): string {
    if (restBytes === 0) return utf8.decode(part)
    keep(part)
    const text = utf8.decode(rest.subarray(0, restBytes))
    rest = new Uint8Array(0)
    restBytes = 0
    return text
  }

  function keep(part: Uint8Array): void {
    const needed = restBytes + part.length
    if (needed > EVENT_BYTES_MAX) throw tooLarge()
    if (needed > rest.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * rest.length))
      larger.set(rest.subarray(0, restBytes))
      rest = larger
    }
    rest.set(part, restBytes)
    restBytes = needed
  }

  function push(bytes: Uint8Array): ServerEvent[] {
    const events: ServerEvent[] = []
    let start = afterCr && bytes[0] === LF ? 1 : 0
    if (bytes.length > 0) afterCr = false
    for (let at = nextLineEnd(bytes, start); at >= 0; at = nextLineEnd(bytes, start)) {
      eventBytes += at - start + restBytes
      line(take(bytes.subarray(start, at)), events)
      start = at + 1
      if (bytes[at] === CR) {
        if (start === bytes.length) afterCr = true
        else if (bytes[start] === LF) start++
      }
    }
    if (start < bytes.length) keep(bytes.subarray(start))
    if (eventBytes > EVENT_BYTES_MAX) throw tooLarge()
    return events
  }

  return {
    push,
    end() {
      const events: ServerEvent[] = []
      if (restBytes > 0) line(take(new Uint8Array()), events)
      dispatch(events)
      return events
    },
  }
}

function tooLarge(): Error {
  return new Error(`an event exceeds ${EVENT_BYTES_MAX} bytes`)
}

function nextLineEnd(bytes: Uint8Array, from: number): number {
  const lf = bytes.indexOf(LF, from)
  const cr = bytes.subarray(from, lf < 0 ? bytes.length : lf).indexOf(CR)
  return cr < 0 ? lf : from + cr
}
