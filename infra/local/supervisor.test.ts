import { afterAll, afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandOf, eventually, freePort, startSpawned } from '@tollgate/process'
import { type Supervised, supervise } from './supervisor.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-supervisor-'))
const started: Supervised[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map(one => one.stop()))
  rmSync(join(folder, 'log'), { force: true })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A service as ours are: answers on its port, and ends when its standard input closes. */
const service = `
  Bun.serve({ port: process.env.PORT, hostname: '127.0.0.1', reusePort: false, fetch: () => new Response(String(process.pid)) })
  process.stdin.on('end', () => process.exit(0)).resume()`

function superviseScript(script: string, port = freePort()) {
  const pids: number[] = []
  const crashes: string[] = []
  const logFile = join(folder, 'log')
  const supervised = supervise({
    name: 'stand-in',
    start: () =>
      startSpawned({
        command: [process.execPath, '-e', script],
        cwd: folder,
        env: { PORT: String(port) },
        logFile,
        stopWithinMs: 300,
      }),
    isReady: async () => (await fetch(`http://127.0.0.1:${port}`)).ok,
    onStarted: pid => pids.push(pid),
    onCrashed: end => crashes.push(end),
  })
  started.push(supervised)
  const answer = async () => Number(await (await fetch(`http://127.0.0.1:${port}`)).text())
  return { supervised, pids, crashes, answer, logFile }
}

test('a killed service is back on its port within a second, every time', async () => {
  const { supervised, pids, answer } = superviseScript(service)
  await supervised.ready
  for (let round = 0; round < 4; round++) {
    const pid = await answer()
    process.kill(pid, 'SIGKILL')
    const next = await eventually(() => answer().then(other => (other === pid ? undefined : other)), {
      withinMs: 1_000,
    })
    expect(pids.at(-1)).toBe(next)
  }
})

test('a stopped service stays stopped, and one that ignores SIGTERM is killed', async () => {
  const deaf = superviseScript(`process.on('SIGTERM', () => {}); ${service}`)
  await deaf.supervised.ready
  const pid = await deaf.answer()
  await deaf.supervised.stop()
  expect(commandOf(pid)).toBeUndefined()
  expect(deaf.crashes).toEqual([])
  expect(deaf.pids).toHaveLength(1)
})

test('a service that never becomes ready is given up, and its log says why', async () => {
  const { supervised, crashes, logFile } = superviseScript(`throw new Error('no configuration')`)
  await expect(supervised.ready).rejects.toThrow('stand-in did not become ready')
  expect(crashes).toHaveLength(4)
  expect(readFileSync(logFile, 'utf8')).toContain('no configuration')
})

test('a process that can not even be started is given up too', async () => {
  const supervised = supervise({
    name: 'absent',
    start: () =>
      startSpawned({ command: ['/nowhere'], cwd: folder, env: {}, logFile: join(folder, 'log'), stopWithinMs: 300 }),
    isReady: () => true,
  })
  started.push(supervised)
  await expect(supervised.ready).rejects.toThrow('absent did not become ready')
})
