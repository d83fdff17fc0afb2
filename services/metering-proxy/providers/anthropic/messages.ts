import type { Fields } from '../../json.ts'
import { joined, type Turn } from '../conversation.ts'
import type { Part } from '../parts.ts'
import { refused } from '../refused.ts'

/** Turns as Anthropic's messages: results of tools come from the user, before anything else that the user says. */
export function messagesOf(turns: readonly Turn[]): Fields[] {
  const messages = joined(
    turns.map(turn => ({ role: turn.role === 'assistant' ? turn.role : 'user', pieces: blocksOf(turn) })),
  )
  return messages.map(({ role, pieces }) => ({ role, content: pieces }))
}

export function textBlock(text: string): Fields {
  return { type: 'text', text }
}

function blocksOf(turn: Turn): Fields[] {
  if (turn.role === 'user') return turn.parts.map(blockOf)
  if (turn.role === 'tool') {
    const content = turn.parts.map(blockOf)
    return [{ type: 'tool_result', tool_use_id: toolId(turn.callId), ...(content.length > 0 && { content }) }]
  }
  const calls = turn.calls.map(({ id, name, args }) => ({ type: 'tool_use', id: toolId(id), name, input: args }))
  return turn.text === '' ? calls : [textBlock(turn.text), ...calls]
}

function blockOf(part: Part): Fields {
  if (part.type === 'text') return textBlock(part.text)
  if (part.type === 'image_url') return { type: 'image', source: { type: 'url', url: part.url } }
  if (part.type === 'audio') throw refused('this model takes no audio')
  const source = { type: 'base64', media_type: part.mime, data: part.base64 }
  return { type: part.type === 'file' ? 'document' : 'image', source }
}

/** Ids that another provider gave may have characters that Anthropic refuses. */
function toolId(id: string): string {
  return id.replace(/[^\w-]/g, '_')
}
