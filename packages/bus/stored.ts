import type { Msg } from 'nats'

/** Why JetStream did not store a message. */
export interface StoreError {
  code: number
  description: string
}

const chars = new TextDecoder()

/** Reads JetStream's answer to a publish: null when the message is stored. */
export function storeErrorOf(answer: Msg): StoreError | null {
  const text = chars.decode(answer.data)
  // Nearly all answers say "stored", and are not parsed for it.
  if (!text.includes('"error"')) return null
  const { error } = JSON.parse(text) as { error?: { err_code?: number; description?: string } }
  return error ? { code: error.err_code ?? 0, description: error.description ?? '' } : null
}
