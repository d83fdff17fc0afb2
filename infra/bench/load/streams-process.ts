/** The streaming client as a process: a `StreamLoad` as JSON in, a `StreamResult` as JSON out. */
import { readFileSync } from 'node:fs'
import { percentilesOf } from '../figures.ts'
import { countEvents } from './events.ts'
import type { StreamLoad, StreamResult } from './streams.ts'

const load: StreamLoad = JSON.parse(process.argv[2] ?? '') // written by `runStreams`
const credentials = readFileSync(load.credentialsFile, 'utf8').trimEnd().split('\n')
const MS = 1_000

const firstByteMs: number[] = []
const chunkDelayMs: number[] = []
const totals = { streams: 0, failed: 0, chunks: 0, mergedChunks: 0 }

const start = performance.now()
const countFrom = start + load.warmupSeconds * MS
const end = countFrom + load.seconds * MS
await Promise.all(Array.from({ length: load.connections }, (_, index) => connection(index)))

const result: StreamResult = {
  ...totals,
  firstByteMs: percentilesOf(firstByteMs),
  chunkDelayMs: percentilesOf(chunkDelayMs),
}
console.log(JSON.stringify(result))

async function connection(index: number): Promise<void> {
  // Streams last equally long: started together, they would go on in step.
  await Bun.sleep((index / load.connections) * load.warmupSeconds * MS)
  for (let turn = index; performance.now() < end; turn += load.connections) {
    const isCounted = performance.now() >= countFrom
    const whole = await stream(credentials[turn % credentials.length] ?? '', isCounted).catch(() => false)
    if (!isCounted) continue
    totals.streams++
    if (!whole) totals.failed++
  }
}

/** Reads one stream; true when it came whole. */
async function stream(credential: string, isCounted: boolean): Promise<boolean> {
  const counter = countEvents()
  const decoder = new TextDecoder()
  let events = 0
  const sentAt = performance.now()
  const answer = await fetch(load.url, {
    method: 'POST',
    headers: { ...load.headers, authorization: `Bearer ${credential}` },
    body: load.body,
  })
  let first = true
  for await (const bytes of answer.body ?? []) {
    const readAt = performance.now()
    const stamps = counter.read(decoder.decode(bytes, { stream: true }))
    events += stamps.length
    if (isCounted) {
      if (first) firstByteMs.push(readAt - sentAt)
      count(stamps, performance.timeOrigin + readAt)
    }
    first = false
  }
  return answer.status === 200 && events === load.events
}

/** `[DONE]` and comments carry no stamp. */
function count(stamps: number[], readAtMs: number): void {
  const stamped = stamps.filter(stamp => !Number.isNaN(stamp))
  for (const stamp of stamped) chunkDelayMs.push(readAtMs - stamp)
  totals.chunks += stamped.length
  totals.mergedChunks += Math.max(0, stamped.length - 1)
}
