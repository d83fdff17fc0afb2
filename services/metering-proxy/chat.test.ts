import { expect, test } from 'bun:test'
import { type ChatRequest, readChat } from './chat.ts'

const read = (body: object): ChatRequest =>
  readChat(JSON.parse(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body })))
const said = (content: unknown, role = 'user') => ({ messages: [{ role, content }] })
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }

test.each([
  ['one part that is no list', said(image('https://a.example/a.png'))],
  ['a content that is a number', said(5)],
  ...['system', 'developer', 'user', 'tool', 'assistant'].map(
    role => [`no content of ${role}`, said(null, role)] as const,
  ),
  ['a video as an image', said([image('data:video/mp4;base64,AAAA')])],
  ['a video as an image, in other letters', said([image(' DATA:Video/mp4;base64,AAAA')])],
  ['half a character in an image', said([image('data:image/png\ud800;base64,AAAA')])],
  ['half a character in a file', said([{ type: 'file', file: { file_data: '\udc00' } }])],
  ['content in other letters', { messages: [{ role: 'user', content: 'Hi', Content: [image('https://a.example')] }] }],
  ['a part in other letters', said([{ type: 'text', text: 'Hi', Type: 'image_url' }])],
])('%s is refused: it could not be counted', (_, body) => {
  expect(() => read(body)).toThrow(expect.objectContaining({ code: 'bad_request' }))
})

test.each(['tool_calls', 'function_call', 'refusal'])('an assistant may have %s instead of a content', field => {
  expect(() => read({ messages: [{ role: 'assistant', [field]: field === 'refusal' ? 'No.' : [call] }] })).not.toThrow()
})

test.each(['N', 'Max_Tokens', 'maxTokens', 'Service_Tier', 'MESSAGES', 'Tools', 'ſtream', 'beſt_of', 'Model'])(
  '%s is refused: a server may read it as the field that we looked at',
  field => {
    expect(() => read({ [field]: 1 })).toThrow('must be spelled')
  },
)

test.each([
  'search_parameters',
  'enable_search',
  'data_sources',
  'fallbacks',
  'mm_processor_kwargs',
  'extra_body',
  'cached_content',
  'n_predict',
])('%s is refused: it has no listed price', field => {
  expect(() => read({ [field]: {} })).toThrow(`"${field}" is not offered here`)
  expect(() => read({ [field]: null })).not.toThrow()
})

test('no cache is asked for, wherever it is said', () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' }
  const part = { type: 'text', text: 'He said "cache_control".' }
  const { text } = read({
    cache_control,
    system: [{ ...part, Cache_Control: cache_control }],
    tools: [{ type: 'function', function: { name: 'f', cache_control }, cache_control }],
    ...said([{ ...part, cache_control }]),
  })
  expect(JSON.parse(text)).toEqual({
    system: [part],
    tools: [{ type: 'function', function: { name: 'f' } }],
    ...said([part]),
  })
})
