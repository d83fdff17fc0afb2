import { join } from 'node:path'
import { type AccountId, ledger, newId } from '@tollgate/contracts'
import { session } from '@tollgate/db/session'
import { type Stack, stack } from '../../../services/ledger/test/stack.ts'
import { aged } from '../aged.ts'
import { median } from '../figures.ts'
import { durablePostgres } from './durable.ts'
import { drive, type Measured } from './load.ts'

/**
 * `bun run bench:ledger [seconds]`: hold + settle pairs through NATS, at several numbers in flight, spread over accounts and
 * on one hot account, in turns, as medians; beside the same through a ledger that is written with one transaction per operation.
 * Everything on this machine: load, nats-server, ledger and a Postgres that flushes every commit.
 */
const SECONDS = Number(process.argv[2] ?? 5)
const IN_FLIGHT = [1, 16, 64, 256]
const SPREAD = 1_000
const ROUNDS = 3
const WARM_UP_IN_FLIGHT = 64
const FUNDS_MICRO = 1_000_000_000_000n

type Accounts = Readonly<Record<string, readonly AccountId[]>>

/** Each round measures all, every second one backwards, so that an hour in which the machine is slower is slower for all. */
async function measure(on: Stack, variant: string, loads: Accounts, levels: readonly number[]): Promise<void> {
  // Until its code is compiled; a lone operation would else be measured before it is.
  for (const accounts of Object.values(loads)) {
    await drive({ bus: on.proxy, accounts, inFlight: WARM_UP_IN_FLIGHT, seconds: SECONDS })
  }
  for (const inFlight of levels) {
    const measured = new Map<string, Measured[]>(Object.keys(loads).map(name => [name, []]))
    for (let round = 0; round < ROUNDS; round++) {
      const turns = Object.entries(loads)
      for (const [name, accounts] of round % 2 ? turns.reverse() : turns) {
        measured.get(name)?.push(await drive({ bus: on.proxy, accounts, inFlight, seconds: SECONDS }))
      }
    }
    for (const [name, rounds] of measured) print(`${variant}, ${name}`, inFlight, rounds)
  }
}

function print(name: string, inFlight: number, rounds: readonly Measured[]): void {
  const of = (figure: keyof Measured) => median(rounds.map(round => round[figure]))
  const cells = [
    name.padEnd(26),
    String(inFlight).padStart(5),
    of('pairsPerSecond').toFixed(0).padStart(9),
    ...(['holdP50Ms', 'holdP99Ms', 'settleP50Ms', 'settleP99Ms'] as const).map(ms => of(ms).toFixed(2).padStart(8)),
  ]
  console.log(cells.join(' '))
}

async function fund(on: Stack, accounts: readonly AccountId[]): Promise<void> {
  await Promise.all(
    accounts.map(account =>
      on.operator.call(ledger.adjust, { id: `grant:${account}`, account, amountMicro: FUNDS_MICRO, reason: 'bench' }),
    ),
  )
}

const database = await durablePostgres()
await aged(database.adminUrl)
const on = await stack({ database })
const spread = Array.from({ length: SPREAD }, () => newId('account'))
const hot = [newId('account')]
const loads = { '1,000 accounts': spread, 'one hot account': hot }

console.log('                           in fl.  pairs/s  hold p50      p99 settle p50   p99   (ms)')
const service = on.start()
await on.answering()
await fund(on, [...spread, ...hot])
await measure(on, 'batched', loads, IN_FLIGHT)
const crashed = performance.now()
await database.crash()
await on.funded(1n)
console.log(
  `Postgres crashed after this load: money moved again after ${((performance.now() - crashed) / 1_000).toFixed(1)} s`,
)
const broken = await on.audit()
console.log(broken.length === 0 ? 'audit: clean' : `audit: ${JSON.stringify(broken)}`)
await service.kill('SIGTERM')

await session(database.adminUrl, run =>
  run(`
    create schema plain;
    create table plain.account (id text primary key, posted_micro bigint not null, held_micro bigint not null default 0,
      check (held_micro >= 0), check (posted_micro >= held_micro)) with (fillfactor = 40);
    create table plain.open_hold (id text primary key, account text not null, granted_micro bigint not null);
    create table plain.journal (seq bigserial primary key, at timestamptz not null default now(), op_id text not null unique,
      account text not null, amount_micro bigint not null, detail json not null);
    insert into plain.account (id, posted_micro) select id, posted_micro from ledger.account;
    grant usage on schema plain to ledger;
    grant all on all tables in schema plain to ledger;
    grant usage on all sequences in schema plain to ledger`),
)
on.start(join(import.meta.dir, 'plain.ts'))
await on.answering()
await measure(on, 'plain', loads, [64, 256])
await on.stop()
process.exit(broken.length === 0 ? 0 : 1)
