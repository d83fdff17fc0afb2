import { expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { eventually, portIsFree } from '@tollgate/process'
import { type NatsCredentials, nats } from './nats.ts'

/** Speaks the protocol itself: only the bus may import a client. */
function publishAs({ url, user, password }: NatsCredentials, subject: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const { hostname, port } = new URL(url)
  const socket = createConnection({ host: hostname, port: Number(port) })
  let heard = ''
  socket.on('error', reject)
  socket.on('data', bytes => {
    heard += bytes
    if (heard.includes('PONG') || heard.includes('Authorization Violation')) {
      socket.destroy()
      resolve(heard)
    }
  })
  socket.write(
    `CONNECT ${JSON.stringify({ user, pass: password, verbose: false, pedantic: false })}\r\nPUB ${subject} 0\r\n\r\nPING\r\n`,
  )
  return promise
}

test('each service is let in with its own password, and says only what the contracts let it', async () => {
  await using server = await nats()
  expect(await publishAs(server.as('billing'), 'ledger.credit.0')).not.toContain('Permissions Violation')
  expect(await publishAs(server.as('router'), 'ledger.credit.0')).toContain('Permissions Violation')
  expect(await publishAs(server.as('metering-proxy'), 'ledger.adjust.0')).toContain('Permissions Violation')
  const stolen = { ...server.as('router'), user: 'billing' }
  expect(await publishAs(stolen, 'ledger.credit.0')).toContain('Authorization Violation')
})

test('a killed server comes back on the same port with the same users', async () => {
  await using server = await nats()
  await server.kill9()
  await expect(publishAs(server.as('billing'), 'ledger.credit.0')).rejects.toThrow('ECONNREFUSED')
  await server.restart()
  expect(await publishAs(server.as('billing'), 'ledger.credit.0')).toContain('PONG')
})

test('no test process leaves a server behind, even when it is killed', async () => {
  const script = `import { nats } from './nats.ts'; const server = await nats(); console.log(server.port); setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', script], { cwd: import.meta.dir, stdout: 'pipe', stderr: 'inherit' })
  const reader = child.stdout.getReader()
  const port = Number(new TextDecoder().decode((await reader.read()).value))
  expect(port).toBeGreaterThan(0)
  child.kill('SIGKILL')
  await eventually(() => portIsFree(port))
})
