import { afterEach, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js'
import { eventually } from '@tollgate/process'
import bs58 from 'bs58'
import type { ChainInfo } from './index.ts'
import { startTestClient } from './test-client.ts'

const directories: string[] = []

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-chain-'))
  directories.push(directory)
  return directory
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

test('a restart keeps balances, the index, the genesis hash and the accepted blockhashes', async () => {
  const stateDir = newDirectory()
  const reference = Keypair.generate().publicKey
  const before = startTestClient({ stateDir, slotMs: 0 })
  const signature = await before.connection.sendRawTransaction(await before.sign([before.payment(123n, reference)]))
  const unsent = await before.sign([before.payment(5n)])
  before.chain.advanceSlots(40)
  const told = await before.connection.getParsedTransaction(signature)
  const slot = await before.connection.getSlot('processed')
  before.chain.stop()

  const after = startTestClient({ stateDir, slotMs: 0 })
  try {
    expect(after.chain.genesisHash).toBe(before.chain.genesisHash)
    expect(await after.connection.getGenesisHash()).toBe(before.chain.genesisHash)
    expect(await after.connection.getSlot('processed')).toBe(slot)
    const treasury = after.holdingOf(after.chain.treasuryWallet.publicKey)
    expect((await after.connection.getTokenAccountBalance(treasury)).value.amount).toBe('123')
    expect(await after.connection.getSignaturesForAddress(reference)).toMatchObject([{ signature, err: null }])
    expect(await after.connection.getParsedTransaction(signature)).toEqual(told)
    expect(await after.connection.sendRawTransaction(unsent)).toBeString()
    const replayed = await after.call('sendTransaction', unsent.toString('base64'), { encoding: 'base64' })
    expect(replayed.error?.data?.err).toBe('AlreadyProcessed')
  } finally {
    after.chain.stop()
  }
})

test('a line that was being written when the process died is dropped, and the chain goes on', async () => {
  const stateDir = newDirectory()
  const before = startTestClient({ stateDir, slotMs: 0 })
  await before.connection.sendRawTransaction(await before.sign([before.payment(1n)]))
  before.chain.stop()
  appendFileSync(join(stateDir, 'journal.jsonl'), '{"kind":"transaction","record":{"signa')

  for (const [amountRaw, expected] of [
    [2n, '1'],
    [4n, '3'],
  ] as const) {
    const client = startTestClient({ stateDir, slotMs: 0 })
    const treasury = client.holdingOf(client.chain.treasuryWallet.publicKey)
    expect((await client.connection.getTokenAccountBalance(treasury)).value.amount).toBe(expected)
    await client.connection.sendRawTransaction(await client.sign([client.payment(amountRaw)]))
    client.chain.stop()
  }
})

test('a rollback is not forgotten by a restart', async () => {
  const stateDir = newDirectory()
  const before = startTestClient({ stateDir, slotMs: 0 })
  const kept = await before.connection.sendRawTransaction(await before.sign([before.payment(1n)]))
  const undone = await before.connection.sendRawTransaction(await before.sign([before.payment(2n)]))
  before.chain.faults.rollback(undone)
  before.chain.stop()

  const after = startTestClient({ stateDir, slotMs: 0 })
  const treasury = after.holdingOf(after.chain.treasuryWallet.publicKey)
  expect((await after.connection.getTokenAccountBalance(treasury)).value.amount).toBe('1')
  const { value } = await after.connection.getSignatureStatuses([kept, undone])
  expect(value.map(status => status?.confirmationStatus ?? null)).toEqual(['processed', null])
  after.chain.stop()
})

function spawnChain(stateDir: string, env: Record<string, string> = {}) {
  return Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts')], {
    env: { ...process.env, CHAIN_PORT: '0', CHAIN_STATE_DIR: stateDir, SUPERVISED: '1', ...env },
    stdin: 'pipe',
    stdout: 'pipe',
  })
}

/** The line that the process prints when it listens. */
async function ready(child: ReturnType<typeof spawnChain>): Promise<{ rpc: string; genesisHash: string }> {
  for await (const chunk of child.stdout) return JSON.parse(new TextDecoder().decode(chunk))
  throw new Error('The chain ended before it was ready')
}

test('what was acknowledged survives kill -9', async () => {
  const stateDir = newDirectory()
  const killed = spawnChain(stateDir)
  const first = await ready(killed)
  const wallet = Keypair.generate().publicKey
  await new Connection(first.rpc).requestAirdrop(wallet, 2 * LAMPORTS_PER_SOL)
  killed.kill('SIGKILL')
  await killed.exited

  const child = spawnChain(stateDir)
  const second = await ready(child)
  expect(second.genesisHash).toBe(first.genesisHash)
  expect(await new Connection(second.rpc).getBalance(wallet)).toBe(2 * LAMPORTS_PER_SOL)
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})

test('a fresh process is ready soon, describes itself, and ends with its supervisor', async () => {
  const stateDir = newDirectory()
  const begun = performance.now()
  const child = spawnChain(stateDir)
  const { rpc } = await ready(child)
  // 150 ms alone; the bound leaves room for a busy machine.
  expect(performance.now() - begun).toBeLessThan(2_000)
  expect((await fetch(`${rpc}/health`)).status).toBe(200)
  const info: ChainInfo = await Bun.file(join(stateDir, 'chain.json')).json()
  expect(info).toMatchObject({ rpc, decimals: 6 })
  expect(Number(new URL(info.ws).port)).toBe(Number(new URL(rpc).port) + 1)
  const payer = Keypair.fromSecretKey(bs58.decode(info.payer.secretKey))
  expect(payer.publicKey.toBase58()).toBe(info.payer.address)
  child.stdin.end()
  expect(await child.exited).toBe(0)
  await eventually(async () => (await fetch(rpc).catch(() => null)) === null)
})
