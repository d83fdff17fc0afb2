/**
 * `bun run bench:idle`: what 5,000 idle streams over two routers, and then slow bodies and slow headers by `slowhttptest`, leave of
 * the time of normal calls. Ends with 0 when it stays within twice the time, no stream was cut, and `audit` is clean.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { percentilesOf } from './figures.ts'
import { startIdle } from './load/idle.ts'
import { asText, figure } from './report/table.ts'
import { startSecondRouter } from './scale/second-router.ts'
import { placeIn, startSimulatedUpstream } from './targets/peers.ts'
import { startTollgate } from './targets/tollgate.ts'
import { bodyOf, idlePace, paceOf } from './workload.ts'

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '5000' },
    attackers: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '15' },
  },
})
const CLIENTS = Number(values.clients)
const ROUTERS = 2
/** Over both routers. */
const ATTACKERS = Number(values.attackers)
const SECONDS = Number(values.seconds)
/** Of each router. */
const CLIENTS_PER_SECOND = 200
const PATH = '/v1/chat/completions'
const TIMES_MAX = 2

/** At an endpoint that needs no credential, so that bodies are waited for. */
const ATTACKED = '/auth/nonce'
const attacks = [
  { name: 'slow bodies', flags: ['-B', '-t', 'POST', '-s', '8192', '-x', '10'] },
  { name: 'slow headers', flags: ['-H', '-t', 'POST'] },
]

const attackTool = Bun.which('slowhttptest')
if (!attackTool) throw new Error('slowhttptest is not on the PATH: apt-get install slowhttptest')

interface Row {
  name: string
  p50Ms: number
  p99Ms: number
  failed: number
}

const folder = mkdtempSync(join(tmpdir(), 'tollgate-idle-'))
const upstream = await startSimulatedUpstream(placeIn(folder))
try {
  const tollgate = await startTollgate(upstream, { names: ['tollgate'], accounts: 1 })
  try {
    process.exitCode = (await measure(tollgate)) ? 0 : 1
  } finally {
    await tollgate.stop()
  }
} finally {
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function measure({ targets, stack }: Awaited<ReturnType<typeof startTollgate>>): Promise<boolean> {
  const [target] = targets
  const credential = target?.credentials[0]
  if (!target || !credential) throw new Error('nothing was started')
  const second = await startSecondRouter(stack)
  const origins = [new URL(target.baseUrl).origin, second.url]
  const call = (index: number) =>
    fetch(`${origins[index % origins.length]}${PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${credential}` },
      body: bodyOf('json', target.modelFor(paceOf('json', 1))),
    })

  await calls('warming up', call)
  const rows = [await calls('nothing else', call)]
  const idle = await startIdle({
    origins,
    path: PATH,
    credential,
    body: bodyOf('sse', target.modelFor(idlePace)),
    clients: CLIENTS,
    perSecond: CLIENTS_PER_SECOND,
  })
  rows.push(await calls(`${CLIENTS} idle streams`, call))
  for (const { name, flags } of attacks) {
    const attackers = origins.map(origin => attack(flags, `${origin}${ATTACKED}`))
    // Until their connections are made.
    await Bun.sleep(5_000)
    rows.push(await calls(`${CLIENTS} idle streams, ${ATTACKERS} ${name}`, call))
    for (const attacker of attackers) attacker.kill()
    await Promise.all(attackers.map(({ exited }) => exited))
  }
  const { cut } = idle.state
  await idle.stop()
  await second.stop()
  const audit = await stack.audit()
  const base = rows[0]?.p50Ms ?? Number.NaN
  const columns = ['beside', 'p50 ms', 'p99 ms', '× alone', 'failed']
  const cells = rows.map(({ name, p50Ms, p99Ms, failed }) => [
    name,
    figure(p50Ms),
    figure(p99Ms),
    figure(p50Ms / base),
    String(failed),
  ])
  console.log(asText({ title: 'Completions, one after the other', columns, words: 1, rows: cells }))
  console.log(`Idle streams that were cut: ${cut}. Audit: ${audit.clean ? 'clean' : audit.text}`)
  return rows.every(({ p50Ms, failed }) => p50Ms <= base * TIMES_MAX && failed === 0) && cut === 0 && audit.clean
}

/** Calls one after the other. */
async function calls(name: string, call: (index: number) => Promise<Response>): Promise<Row> {
  const times: number[] = []
  let failed = 0
  const end = performance.now() + SECONDS * 1_000
  for (let index = 0; performance.now() < end; index++) {
    const asked = performance.now()
    const answer = await call(index).catch(() => null)
    await answer?.arrayBuffer()
    if (answer?.status !== 200) failed++
    times.push(performance.now() - asked)
  }
  const { p50, p99 } = percentilesOf(times)
  console.error(`${name}: p50 ${figure(p50)} ms`)
  return { name, p50Ms: p50, p99Ms: p99, failed }
}

/** The tool asks its sockets in a busy loop, half a core each: elsewhere its own machine would pay for that, so here it waits for the others. */
function attack(flags: string[], url: string) {
  const connections = Math.ceil(ATTACKERS / ROUTERS)
  const bounds = [
    '-c',
    String(connections),
    '-r',
    String(Math.ceil(connections / 4)),
    '-i',
    '3',
    '-l',
    '240',
    '-p',
    '5',
  ]
  const command = ['nice', '-n', '19', attackTool ?? '', ...flags, ...bounds, '-u', url, '-v', '0']
  return Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
}
