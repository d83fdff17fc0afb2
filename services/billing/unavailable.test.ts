import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createInitializePausableConfigInstruction,
  createPauseInstruction,
  createResumeInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, SystemProgram } from '@solana/web3.js'
import type { ErrorBody } from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { startWorld, type World } from './test/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

async function watcherWith(env: Record<string, string>): Promise<void> {
  await world.running.watcher.stop()
  await world.start('watcher', env)
}

interface Outcome {
  status: number
  code: string | null
  retryAfter: string | null
}

async function topup(service = world.running.billing): Promise<Outcome> {
  const request = { as: world.newCaller(), body: { amount: '10' } }
  const { status, headers, body } = await service.ask<Partial<ErrorBody>>('POST', '/billing/topup', request)
  return { status, code: body.error?.code ?? null, retryAfter: headers.get('retry-after') }
}
const MISCONFIGURED = { status: 503, code: 'service_misconfigured', retryAfter: null }
const UNAVAILABLE = { status: 503, code: 'service_unavailable', retryAfter: '2' }

describe('a deployment that is not set up starts, and topup says so', () => {
  test.each([
    ['no treasury', { TREASURY: '' }],
    ['no mint', { TOKEN_MINT: '' }],
    ['a treasury that is no address', { TREASURY: 'nobody' }],
    ['a mint that is no address', { TOKEN_MINT: '0xdac17f958d2ee523a2206206994597c13d831ec7' }],
    ['a mint that does not exist', { TOKEN_MINT: Keypair.generate().publicKey.toBase58() }],
    ['a treasury without a token account', { TREASURY: Keypair.generate().publicKey.toBase58() }],
  ])(
    '%s',
    async (_name, env) => {
      await watcherWith(env)
      expect(await topup()).toEqual(MISCONFIGURED)
    },
    20_000,
  )
})

test('the treasury gets its token account from the service where a fee payer is set', async () => {
  const treasury = Keypair.generate().publicKey.toBase58()
  await watcherWith({ TREASURY: treasury, FEE_PAYER_SECRET_KEY: world.chain.payer.secretKey })
  await eventually(async () => (await topup()).status === 200)
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  expect(intent.recipient).toBe(treasury)
}, 20_000)

test('a mint that is paused later is refused while it is, and accepted again', async () => {
  const mint = Keypair.generate()
  const { wallet, send } = world.payer
  const owner = wallet.publicKey
  const program = TOKEN_2022_PROGRAM_ID
  const treasury = world.chain.treasuryWallet.publicKey
  const holding = getAssociatedTokenAddressSync(mint.publicKey, treasury, false, program)
  const space = getMintLen([ExtensionType.PausableConfig])
  const account = {
    fromPubkey: owner,
    newAccountPubkey: mint.publicKey,
    lamports: 10_000_000,
    space,
    programId: program,
  }
  await send(
    [
      SystemProgram.createAccount(account),
      createInitializePausableConfigInstruction(mint.publicKey, owner, program),
      createInitializeMint2Instruction(mint.publicKey, 6, owner, owner, program),
      createAssociatedTokenAccountIdempotentInstruction(owner, holding, treasury, mint.publicKey, program),
    ],
    [wallet, mint],
  )
  await watcherWith({ TOKEN_MINT: mint.publicKey.toBase58(), TREASURY_CHECK_MS: '100' })
  await eventually(async () => (await topup()).status === 200)
  await send([createPauseInstruction(mint.publicKey, owner, [], program)])
  await eventually(async () => (await topup()).code === 'service_misconfigured')
  await send([createResumeInstruction(mint.publicKey, owner, [], program)])
  await eventually(async () => (await topup()).status === 200)
}, 30_000)

describe('what topup needs is away', () => {
  test('no RPC endpoint answers', async () => {
    await watcherWith({ SOLANA_RPC_URLS: 'http://127.0.0.1:1' })
    expect(await topup()).toEqual(UNAVAILABLE)
  }, 20_000)

  test('the RPC endpoint is on another network than configured', async () => {
    await watcherWith({ SOLANA_NETWORK: 'mainnet-beta' })
    expect(await topup()).toEqual(UNAVAILABLE)
    await watcherWith({ EXPECTED_GENESIS_HASH: world.chain.genesisHash })
    expect((await topup()).status).toBe(200)
  }, 20_000)

  test('the second endpoint serves when the first is dead', async () => {
    await watcherWith({ SOLANA_RPC_URLS: `http://127.0.0.1:1,${world.chain.rpc}` })
    expect((await topup()).status).toBe(200)
  }, 20_000)

  test('chain-watcher itself', async () => {
    await world.running.watcher.stop()
    expect(await topup()).toMatchObject({ status: 503, code: 'service_unavailable' })
    await world.start('watcher')
  }, 20_000)

  test('no price source answers', async () => {
    await using other = await world.startBilling({ PRICE_SOURCES: 'jupiter', JUPITER_URL: 'http://127.0.0.1:1' })
    expect(await topup(other)).toEqual(UNAVAILABLE)
  }, 20_000)

  test('a verify while no RPC endpoint answers is 503, not "no payment"', async () => {
    const caller = world.newCaller()
    const { reference } = await world.topup(caller)
    await watcherWith({ SOLANA_RPC_URLS: 'http://127.0.0.1:1' })
    const { status, body } = await world.verify(caller, { reference })
    expect([status, body.error?.code]).toEqual([503, 'service_unavailable'])
  }, 20_000)
})
