import { afterEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { command } from './command.ts'
import { downloadRelease } from './release.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-release-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A release server with an archive that holds a stand-in for the program. */
async function releaseServer(platform: string, sums: (checksum: string, file: string) => string) {
  const name = `nats-server-v2.9.10-${platform}`
  mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, name, 'nats-server'), 'the program')
  await command(['tar', '-czf', 'archive.tar.gz', name], folder)
  const archive = readFileSync(join(folder, 'archive.tar.gz'))
  const checksum = createHash('sha256').update(archive).digest('hex')
  const answers: Record<string, string | Uint8Array> = {
    [`/${name}.tar.gz`]: archive,
    '/SHA256SUMS': sums(checksum, `${name}.tar.gz`),
  }
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request => new Response(answers[new URL(request.url).pathname] ?? null),
  })
}

test('a release that matches its published checksum is unpacked', async () => {
  await using server = await releaseServer(
    'linux-arm64',
    (checksum, file) => `0000  other.tar.gz\n${checksum}  ${file}\n`,
  )
  const tools = join(folder, 'tools')
  await downloadRelease({ folder: tools, base: server.url.origin, platform: 'linux-arm64' })
  expect(readFileSync(join(tools, 'nats-server'), 'utf8')).toBe('the program')
})

test('a release with another checksum is refused and leaves nothing', async () => {
  await using server = await releaseServer('linux-arm64', (_checksum, file) => `${'0'.repeat(64)}  ${file}\n`)
  const tools = join(folder, 'tools')
  const attempt = downloadRelease({ folder: tools, base: server.url.origin, platform: 'linux-arm64' })
  await expect(attempt).rejects.toThrow('has SHA-256')
  expect(existsSync(tools)).toBe(false)
})

test('where the checksum is known, the server that offers the file has no say in it', async () => {
  await using server = await releaseServer('linux-amd64', (checksum, file) => `${checksum}  ${file}\n`)
  const attempt = downloadRelease({ folder: join(folder, 'tools'), base: server.url.origin, platform: 'linux-amd64' })
  await expect(attempt).rejects.toThrow('has SHA-256')
})
