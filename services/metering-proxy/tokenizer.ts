/** A tokenizer in a thread of its own: loading it takes a third of a second, in which no stream would move. */
interface Waiting {
  resolve(tokens: number): void
  /** What is answered when the thread can't. */
  readonly guess: number
}

const CHARS_PER_TOKEN = 4

let worker: Worker | undefined
const waiting = new Map<number, Waiting>()
let nextId = 0

/** Tokens of a text by OpenAI's tokenizer; by its length where that fails. Loaded at its first use, since few providers need it. */
export function countTokens(text: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const id = nextId++
  waiting.set(id, { resolve, guess: Math.ceil(text.length / CHARS_PER_TOKEN) })
  worker ??= start()
  worker.postMessage({ id, text })
  return promise
}

function start(): Worker {
  const started = new Worker(new URL('./tokenizer-thread.ts', import.meta.url))
  // It must not keep a process alive that has ended its work.
  started.unref()
  started.onmessage = ({ data }: MessageEvent<{ id: number; tokens: number }>) => {
    waiting.get(data.id)?.resolve(data.tokens)
    waiting.delete(data.id)
  }
  started.onerror = () => {
    if (worker === started) worker = undefined
    started.terminate()
    for (const { resolve, guess } of waiting.values()) resolve(guess)
    waiting.clear()
  }
  return started
}
