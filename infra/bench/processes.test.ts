import { expect, test } from 'bun:test'
import { labelOf, memoryOf, type ProcessFigures, processFigures, sharesOf } from './processes.ts'

test('processes are told apart by their command lines', () => {
  expect(labelOf('/usr/bin/bun services/metering-proxy/index.ts')).toBe('metering-proxy')
  expect(labelOf('/usr/bin/bun infra/bench/targets/bare-proxy.ts')).toBe('proxy')
  expect(labelOf('nats-server -c /x/nats.conf')).toBe('nats')
  expect(labelOf('postgres: ledger tollgate 127.0.0.1(50312) SELECT')).toBe('postgres')
  expect(labelOf('/var/lib/x/bin/postgres -D /data')).toBe('postgres')
  expect(labelOf('/bin/sh -c # Runs a server guardian INT 150  /x/bin/postgres -D /data')).toBeUndefined()
})

test('memory that processes share counts once, and only their own time counts', () => {
  const backend = (pid: number, cpuMs: number): ProcessFigures => ({
    pid,
    label: 'postgres',
    cpuMs,
    ownBytes: 10,
    sharedBytes: 100 + pid,
  })
  expect(memoryOf([backend(1, 0), backend(2, 0)])).toBe(122)
  expect(sharesOf([backend(1, 500)], [backend(1, 700), backend(2, 300)], 1_000)).toEqual([
    { label: 'postgres', cores: 0.5, rssBytes: 122 },
  ])
})

test.if(process.platform === 'linux')('this machine tells of a process that is busy', () => {
  const child = Bun.spawn([process.execPath, 'infra/upstream/main.ts'], { stdout: 'pipe' })
  try {
    const [figures] = processFigures([child.pid])
    expect(figures).toMatchObject({ pid: child.pid, label: 'upstream' })
  } finally {
    child.kill()
  }
})
