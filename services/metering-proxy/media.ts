import { PublicError } from '@tollgate/contracts'
import { type Fields, isFields } from './json.ts'

/** Kinds of content that are not text: bounded per item by the catalogue, since their bytes say little about their tokens. */
export const mediaKinds = ['image', 'audio', 'file'] as const
export type MediaKind = (typeof mediaKinds)[number]

/** The media of a request: how many of each, and how much of the body they are. */
export interface Media {
  readonly counts: Readonly<Record<MediaKind, number>>
  /** UTF-8 bytes and UTF-16 units of their payloads, which the model does not read as text. */
  readonly bytes: number
  readonly units: number
}

const otherData = /^\s*data:(?!image\/)/i
const textParts = new Set<unknown>(['text', 'refusal'])

/** Finds the media in messages. A part of a kind that we don't know has no bound: 400. */
export function mediaOf(messages: readonly Fields[]): Media {
  const counts = { image: 0, audio: 0, file: 0 }
  let bytes = 0
  let units = 0
  const note = (kind: MediaKind, ...payloads: unknown[]) => {
    counts[kind]++
    for (const payload of payloads) {
      if (typeof payload !== 'string') continue
      // JSON writes a lone surrogate in six bytes, and any other payload in no fewer than are counted here.
      if (!payload.isWellFormed())
        throw new PublicError('bad_request', `the data of each ${kind} must be well-formed text`)
      bytes += Buffer.byteLength(payload)
      units += payload.length
    }
  }
  for (const message of messages) {
    // An earlier spoken answer, by its id.
    if (isFields(message.audio)) note('audio')
    const { content } = message
    if (content === undefined || content === null || typeof content === 'string') continue
    // One part by itself would be read by some, and not be counted.
    if (!Array.isArray(content)) throw new PublicError('bad_request', 'a content must be a text or a list of parts')
    for (const part of content) notePart(part, note)
  }
  return { counts, bytes, units }
}

function notePart(part: unknown, note: (kind: MediaKind, ...payloads: unknown[]) => void): void {
  if (typeof part === 'string') return
  if (!isFields(part)) throw new PublicError('bad_request', 'each part of a content must be an object with a type')
  const inside = (name: string): Fields => {
    const value = part[name]
    return isFields(value) ? value : {}
  }
  if (part.type === 'image_url') {
    const url = inside('image_url').url ?? part.image_url
    // An image is held and charged for as an image: a video in its place would cost many times as much.
    if (typeof url === 'string' && otherData.test(url)) {
      throw new PublicError('bad_request', 'the data URL of an image must be of type image/…')
    }
    note('image', url)
  } else if (part.type === 'input_audio') note('audio', inside('input_audio').data)
  else if (part.type === 'file') note('file', inside('file').file_data)
  else if (!textParts.has(part.type)) {
    throw new PublicError('bad_request', 'content parts must be of type text, image_url, input_audio or file')
  }
}
