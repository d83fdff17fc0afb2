import type { Message } from './message.ts'

export const MEMO_PROGRAMS = new Set([
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
])

/** The memos of a transaction as getSignaturesForAddress shows them, such as "[5] hello", or null. */
export function memoOf(message: Message): string | null {
  const memos = message.instructions.flatMap(({ programIdIndex, data }) => {
    const program = message.staticKeys[programIdIndex]
    if (program === undefined || !MEMO_PROGRAMS.has(program)) return []
    return [`[${data.length}] ${new TextDecoder().decode(data)}`]
  })
  return memos.length > 0 ? memos.join('; ') : null
}
