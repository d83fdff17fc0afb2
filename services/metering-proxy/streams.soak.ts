import { join } from 'node:path'
import { eventually, freePort } from '@tollgate/testing'
import { type Rig, startRig } from './test/rig.ts'

/**
 * `bun services/metering-proxy/streams.soak.ts [streams]`: 2,000 slow streams at once through one proxy, beside as many that ask the
 * upstream itself. Ends with 1 when one is cut, when the proxy takes too much memory, or when it delays first pieces.
 */
const STREAMS = Number(process.argv[2] ?? 2_000)
/** Streams begin one after the other, and the first lasts until after the last has begun. */
const RAMP_MS = 20_000
const PIECES = 40
const INTERVAL_MS = 1_000
const CREDIT = 10n ** 12n
const RSS_MAX_BYTES = 350 * 1024 * 1024
const DELAY_MAX_MS = 5
const SENT_AT = /"system_fingerprint":"fp_([\d.]+)"/

const port = freePort()
const upstreamUrl = `http://127.0.0.1:${port}/v1`
const upstream = Bun.spawn([process.execPath, join(import.meta.dir, '..', '..', 'infra', 'upstream', 'main.ts')], {
  env: { ...process.env, PORT: String(port), SUPERVISED: '1' },
  stdin: 'pipe',
  stdout: 'ignore',
})
await eventually(() => fetch(`http://127.0.0.1:${port}/health`))
const rig: Rig = await startRig({ slow: { urls: [upstreamUrl] } }, { LOG_LEVEL: 'error' })
const caller = await rig.account(CREDIT)
const body = {
  model: 'slow',
  stream: true,
  max_tokens: PIECES,
  messages: [{ role: 'user', content: 'Tell.' }],
  sim: { tokens: PIECES, intervalMs: INTERVAL_MS, stamp: 1 },
}
const asks = {
  upstream: () =>
    fetch(`${upstreamUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  proxy: () => rig.chat(caller, body),
}

const alone = await run(asks.upstream)
let [rss, atOnce] = [0, 0]
const watching = setInterval(async () => {
  rss = Math.max(rss, await rig.gauge('process_resident_memory_bytes'))
  atOnce = Math.max(atOnce, await rig.gauge('tollgate_completions_in_work'))
}, 500)
const through = await run(asks.proxy)
clearInterval(watching)
await eventually(async () => (await rig.balance(caller.acct)).heldMicro === 0n)

const delayMs = through.firstDelayP50Ms - alone.firstDelayP50Ms
const checks = {
  'all streams were open at once': atOnce >= STREAMS,
  'none was cut': through.whole === STREAMS,
  'memory was bounded': rss <= RSS_MAX_BYTES,
  'first pieces were not delayed': delayMs <= DELAY_MAX_MS,
}
console.log({ alone, through, delayMs, atOnce, rssMiB: rss / 1024 / 1024, ...checks })
await rig.stop()
upstream.kill()
process.exit(Object.values(checks).every(Boolean) ? 0 : 1)

/** Streams that begin evenly over the ramp; how many came whole, and how long after its sending the first piece was read. */
async function run(ask: () => Promise<Response>): Promise<{ whole: number; firstDelayP50Ms: number }> {
  const delays: number[] = []
  const wholes = await Promise.all(
    Array.from({ length: STREAMS }, async (_, index) => {
      await Bun.sleep((index / STREAMS) * RAMP_MS)
      return read(await ask(), delays).catch(() => false)
    }),
  )
  delays.sort((a, b) => a - b)
  return { whole: wholes.filter(Boolean).length, firstDelayP50Ms: delays[delays.length >> 1] ?? Number.NaN }
}

async function read(answer: Response, delays: number[]): Promise<boolean> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of answer.body ?? []) {
    if (text === '') {
      const sentAt = Number(SENT_AT.exec(decoder.decode(bytes))?.[1])
      delays.push(performance.timeOrigin + performance.now() - sentAt)
    }
    text += decoder.decode(bytes, { stream: true })
  }
  return answer.status === 200 && text.endsWith('data: [DONE]\n\n')
}
