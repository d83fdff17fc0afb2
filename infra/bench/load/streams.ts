import { join } from 'node:path'
import type { Percentiles } from '../figures.ts'

/** What the streaming client is asked to do: every connection reads one stream after the other. */
export interface StreamLoad {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  credentialsFile: string
  connections: number
  seconds: number
  /** Not counted, before the seconds. */
  warmupSeconds: number
  /** Events that a whole stream has. */
  events: number
}

export interface StreamResult {
  streams: number
  /** Not 200, broken off, or with another number of events than the upstream sent. */
  failed: number
  /** From sending the request to the first byte of the answer's body. */
  firstByteMs: Percentiles
  /** From the upstream's writing of a piece to the client's reading of it. */
  chunkDelayMs: Percentiles
  /** Pieces that arrived, and those of them that arrived with the one before in one read. */
  chunks: number
  mergedChunks: number
}

/** Reads streams in a process of its own. */
export async function runStreams(load: StreamLoad): Promise<StreamResult> {
  const client = Bun.spawn([process.execPath, join(import.meta.dir, 'streams-process.ts'), JSON.stringify(load)], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '20000' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const out = await client.stdout.text()
  if ((await client.exited) !== 0) throw new Error(`the streaming client failed:\n${out}`)
  return JSON.parse(out) // our own process wrote it
}
