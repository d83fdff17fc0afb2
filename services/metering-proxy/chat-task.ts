import type { Task } from './attempt.ts'
import type { Model } from './catalogue.ts'
import type { ChatRequest } from './chat.ts'
import type { WorstCase } from './estimate.ts'
import type { UpstreamFailure } from './providers/failure.ts'

/** A chat completion as a task for any kind of provider. */
export function chatTask(chat: ChatRequest, model: Model, worst: WorstCase): Task {
  /** Null when the caller asked for exactly what did not fit, or nothing smaller is left. */
  function smaller(limit: number, { detail }: UpstreamFailure): number | null {
    if (chat.limit !== null && chat.limit <= limit) return null
    const fitting = detail.promptTokens === undefined ? worst.limitMin : model.contextTokens - detail.promptTokens
    const most = Math.min(fitting, limit - 1)
    return most >= 1 ? most : null
  }
  return {
    request: ({ provider, target }, limit) => provider.chat(target, chat, limit),
    answer: ({ provider, target }, body) => provider.answer(body, target),
    reader: chat.stream ? ({ provider, target }) => provider.reader(target, chat) : null,
    smaller,
  }
}
