/** `bun run bench:soak`: minutes at 70 % of the peak; memory and p99 must stay flat, and the money right. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { credentialsFileOf, type Load, type LoadResult, runLoad } from './load/load.ts'
import { processFigures } from './processes.ts'
import { asMarkdown, asText } from './report/table.ts'
import { judgeSoak, soakTables, type Window } from './steadiness.ts'
import { placeIn, startSimulatedUpstream } from './targets/peers.ts'
import type { Target } from './targets/target.ts'
import { startTollgate } from './targets/tollgate.ts'
import { takeTurns } from './turns.ts'
import { bodyOf, paceOf } from './workload.ts'

const SHARE_OF_PEAK = 0.7
const CONNECTIONS = 64
const PEAK_SECONDS = 10
const WINDOW_SECONDS = 10
const MS = 1_000

takeTurns()
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '8' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
})
const windowsWanted = Math.round((Number(values.minutes) * 60) / WINDOW_SECONDS)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-soak-'))
const upstream = await startSimulatedUpstream(placeIn(folder))
try {
  const tollgate = await startTollgate(upstream, { names: ['tollgate'], accounts: 1 })
  try {
    const [target] = tollgate.targets
    if (!target) throw new Error('nothing was started')
    const load = loadOf(target)
    const peak = await findPeak(load)
    const windows = await soak(load, target, peak.requestsPerSecond * SHARE_OF_PEAK)
    const audit = await tollgate.stack.audit()
    const verdicts = judgeSoak(windows)
    report({ peak, windows, verdicts, audit })
    const isSteady = verdicts.every(({ isFlat }) => isFlat) && windows.every(({ failed }) => failed === 0)
    process.exitCode = isSteady && audit.clean ? 0 : 1
  } finally {
    await tollgate.stop()
  }
} finally {
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
}

function loadOf(target: Target): Load {
  return {
    url: `${target.baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', ...target.headers },
    body: bodyOf('json', target.modelFor(paceOf('json', CONNECTIONS))),
    credentialsFile: credentialsFileOf(target, folder),
    connections: CONNECTIONS,
    seconds: WINDOW_SECONDS,
    thinkMs: 0,
  }
}

async function findPeak(load: Load): Promise<LoadResult> {
  await runLoad({ ...load, seconds: PEAK_SECONDS })
  const peak = await runLoad({ ...load, seconds: PEAK_SECONDS })
  console.error(`peak: ${Math.round(peak.requestsPerSecond)}/s`)
  return peak
}

/** One window after the other. The time that a connection waits between requests follows what the last window reached. */
async function soak(load: Load, target: Target, wanted: number): Promise<Window[]> {
  const windows: Window[] = []
  let thinkMs = (CONNECTIONS / wanted) * (1 - SHARE_OF_PEAK) * MS
  while (windows.length < windowsWanted) {
    const { requestsPerSecond, failed, latencyMs } = await runLoad({ ...load, thinkMs })
    thinkMs = Math.max(0.1, thinkMs + (CONNECTIONS / wanted - CONNECTIONS / requestsPerSecond) * MS)
    windows.push({
      seconds: (windows.length + 1) * WINDOW_SECONDS,
      requestsPerSecond,
      failed,
      p50Ms: latencyMs.p50,
      p99Ms: latencyMs.p99,
      processes: processFigures(target.roots),
    })
    console.error(`${windows.length}/${windowsWanted}: ${Math.round(requestsPerSecond)}/s, p99 ${latencyMs.p99} ms`)
  }
  return windows
}

interface SoakReport {
  peak: LoadResult
  windows: Window[]
  verdicts: ReturnType<typeof judgeSoak>
  audit: { clean: boolean; text: string }
}

function report({ peak, windows, verdicts, audit }: SoakReport): void {
  if (values.json) {
    console.log(JSON.stringify({ peak, windows, verdicts, audit }, null, 2))
    return
  }
  const shape = values.markdown ? asMarkdown : asText
  const tables = soakTables(windows, verdicts).map(shape)
  console.log([...tables, audit.clean ? 'Audit after the run: clean.' : audit.text].join('\n\n'))
}
