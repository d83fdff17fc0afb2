import { type Fields, isFields } from '../json.ts'
import { refused } from './refused.ts'

/** A piece of a message's content, read from OpenAI's form for kinds of providers that speak another one. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio' | 'file'; readonly mime: string; readonly base64: string }
  | { readonly type: 'image_url'; readonly url: string }

/** Far beyond any media type: what is longer before the comma is no data URL, however many megabytes it has. */
const DATA_HEADER_CHARS_MAX = 200
const dataHeader = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64$/i
const audioMimes: ReadonlyMap<unknown, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mp3'],
])

/** The parts of a content: a text, a list, or nothing. Empty texts are left out: other providers refuse them. */
export function readParts(content: unknown): Part[] {
  if (content === undefined || content === null) return []
  const pieces = Array.isArray(content) ? content : [content]
  return pieces.map(readPart).filter(part => part.type !== 'text' || part.text !== '')
}

/** The text of parts, where a provider takes nothing else. Throws when there is something else. */
export function textOf(parts: readonly Part[], where: string): string {
  return parts.map(part => (part.type === 'text' ? part.text : refuseMedia(where))).join('')
}

function refuseMedia(where: string): never {
  throw refused(`a ${where} message takes text only`)
}

function readPart(part: unknown): Part {
  if (typeof part === 'string') return { type: 'text', text: part }
  if (!isFields(part)) throw refused('"content" must be a text or a list of parts')
  if (part.type === 'text' && typeof part.text === 'string') return { type: 'text', text: part.text }
  if (part.type === 'refusal' && typeof part.refusal === 'string') return { type: 'text', text: part.refusal }
  if (part.type === 'image_url') return image(part.image_url)
  if (part.type === 'input_audio' && isFields(part.input_audio)) return audio(part.input_audio)
  if (part.type === 'file' && isFields(part.file)) return file(part.file)
  throw refused('a part of "content" is not as its type demands')
}

function image(image: unknown): Part {
  const url = isFields(image) ? image.url : image
  if (typeof url !== 'string') throw refused('"image_url" must have a "url"')
  if (/^https?:\/\//i.test(url)) return { type: 'image_url', url }
  const { mime, base64 } = dataUrl(url)
  // An image is held and charged for as an image: a video in its place would cost many times as much.
  if (!mime.startsWith('image/')) throw refused('the data URL of an image must be of type image/…')
  return { type: 'image', mime, base64 }
}

function audio({ format, data }: Fields): Part {
  const mime = audioMimes.get(format)
  if (!mime || typeof data !== 'string') throw refused('"input_audio" must have "data", and the "format" wav or mp3')
  return { type: 'audio', mime, base64: data }
}

function file({ file_data: data }: Fields): Part {
  if (typeof data !== 'string')
    throw refused('"file" must have "file_data": a provider does not know the files of another')
  const { mime, base64 } = dataUrl(data)
  if (mime !== 'application/pdf') throw refused('the data URL of a file must be of type application/pdf')
  return { type: 'file', mime, base64 }
}

function dataUrl(url: string): { mime: string; base64: string } {
  const header = url.slice(0, DATA_HEADER_CHARS_MAX).split(',', 1)[0] ?? ''
  const mime = dataHeader.exec(header)?.[1]
  if (!mime) throw refused('media must come as a data URL in base64, or an image by its http(s) URL')
  return { mime: mime.toLowerCase(), base64: url.slice(header.length + 1) }
}
