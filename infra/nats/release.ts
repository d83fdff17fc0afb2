import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command } from './command.ts'

export interface ReleaseOptions {
  folder: string
  /** Where the release's files lie. */
  base?: string
  platform?: string
}

/** The version of Debian 12, against which the limits and the money path were measured. */
const VERSION = '2.9.10'
const BASE = `https://github.com/nats-io/nats-server/releases/download/v${VERSION}`
const DOWNLOAD_TIMEOUT_MS = 300_000

/**
 * SHA-256 of the archives, as published with the release. An archive that is not listed here is checked against the
 * release's own SHA256SUMS, which shows a broken download but not a replaced release.
 */
const checksums: Record<string, string> = {
  'linux-amd64': '1dc0829c9cddbc9474a768853d464bd8b32cdaa51f66633825a20462b36071c8',
  'darwin-amd64': '4c8913b6e9dcffe6abd47cc1047601d87aa96a2c0cfabd5a2d7502bb60684f49',
  'darwin-arm64': '2898df4f9ad0db4784dbbefe7266e1dd05023fa05908cf227c60e1bce7dc4521',
}

/** Downloads the official release for this machine, checks it and puts `nats-server` into the folder. */
export async function downloadRelease({
  folder,
  base = BASE,
  platform = thisPlatform(),
}: ReleaseOptions): Promise<void> {
  const name = `nats-server-v${VERSION}-${platform}`
  const archive = await download(`${base}/${name}.tar.gz`)
  const expected = checksums[platform] ?? (await publishedChecksum(`${base}/SHA256SUMS`, `${name}.tar.gz`))
  const actual = createHash('sha256').update(archive).digest('hex')
  if (actual !== expected) throw new Error(`${name}.tar.gz has SHA-256 ${actual}, expected ${expected}`)
  await unpack(archive, name, folder)
}

async function unpack(archive: Uint8Array, name: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const work = mkdtempSync(join(folder, 'release-'))
  try {
    writeFileSync(join(work, 'archive.tar.gz'), archive)
    await command(['tar', '-xzf', 'archive.tar.gz'], work)
    renameSync(join(work, name, 'nats-server'), join(folder, 'nats-server'))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function publishedChecksum(url: string, file: string): Promise<string> {
  const lines = Buffer.from(await download(url))
    .toString('utf8')
    .split('\n')
  const line = lines.find(entry => entry.trim().endsWith(file))
  const checksum = line?.trim().split(/\s+/)[0]
  if (!checksum) throw new Error(`${url} does not list ${file}`)
  return checksum
}

async function download(url: string): Promise<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.bytes()
}

function thisPlatform(): string {
  return `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
}
