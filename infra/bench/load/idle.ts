import { join } from 'node:path'
import { eventually } from '@tollgate/process'
import type { IdleLoad, IdleState } from './idle-process.ts'

export interface IdleClients {
  /** Streams that are open, and that were cut, as of now. */
  readonly state: IdleState
  stop(): Promise<unknown>
}

/** Opens streams that then are silent, from a process of its own; resolves when all are open. */
export async function startIdle(load: IdleLoad): Promise<IdleClients> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'idle-process.ts'), JSON.stringify(load)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let state: IdleState = { open: 0, cut: 0 }
  void follow(child.stdout, line => {
    state = JSON.parse(line) // our own process wrote it
  })
  const withinMs = (load.clients / load.perSecond) * 1_000 * 3 + 10_000
  await eventually(() => state.open === load.clients, { withinMs, everyMs: 200 })
  return {
    get state() {
      return state
    },
    stop() {
      child.kill()
      return child.exited
    },
  }
}

async function follow(stream: ReadableStream<Uint8Array>, hear: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) hear(line)
  }
}
