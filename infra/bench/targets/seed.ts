import { randomBytes } from 'node:crypto'
import { hashKey, KEY_RANDOM_BYTES, newKeySecret } from '@tollgate/contracts'
import { type Run, session } from '@tollgate/db/session'

/** How much a ledger has seen. */
export interface Size {
  accounts: number
  journalRows: number
}

export interface SeedOptions {
  /** Of a superuser: the services' own roles may not write money. */
  postgresUrl: string
  /** What to add; every account gets its share of the rows. */
  size: Size
  /** Sets the ids of one seeding apart from another's. */
  name: string
  /** How many of the accounts get a key that is known here. */
  keys: number
}

/** A credit of 1 USD, then charges of 18 micro-USD, each held with 56: what `workload.ts` costs. */
const CREDIT_MICRO = 1_000_000
const HELD_MICRO = 56
const COST_MICRO = 18
/** Accounts in one statement, so that none runs for minutes. */
const ROWS_PER_STATEMENT = 500_000

/**
 * Writes accounts with a history straight into Postgres, row for row what the ledger would have written, so that `audit` holds. Returns
 * the keys. Their seqs lie below zero: nothing relays them, and they come before everything else.
 */
export async function seed({ postgresUrl, size, name, keys }: SeedOptions): Promise<string[]> {
  const pairs = Math.max(0, Math.floor((size.journalRows / size.accounts - 1) / 2))
  const perStatement = Math.max(1, Math.floor(ROWS_PER_STATEMENT / (1 + 2 * pairs)))
  return session(postgresUrl, async run => {
    const [row] = await run('select coalesce(min(seq), 0)::text as first from ledger.journal where seq < 0')
    let firstSeq = BigInt(String(row?.first)) - BigInt(size.accounts) * BigInt(1 + 2 * pairs)
    for (let from = 1; from <= size.accounts; from += perStatement) {
      const upTo = Math.min(size.accounts, from + perStatement - 1)
      await run(statements({ name, from, upTo, pairs, firstSeq }))
      firstSeq += BigInt(upTo - from + 1) * BigInt(1 + 2 * pairs)
    }
    const secrets = await insertSecrets(run, name, { keys: Math.min(keys, size.accounts), accounts: size.accounts })
    for (const table of tables) await run(`vacuum (analyze) ${table}`)
    await run('checkpoint')
    return secrets
  })
}

const tables = ['account', 'key_cap', 'op', 'journal', 'posting'].map(name => `ledger.${name}`)

interface Part {
  name: string
  from: number
  upTo: number
  pairs: number
  firstSeq: bigint
}

/** All rows of some accounts, in one transaction. `step` 0 is the credit; then a hold and its settlement in turn. */
function statements({ name, from, upTo, pairs, firstSeq }: Part): string {
  const entries = `
    select i, step, ${firstSeq} + (i - ${from})::bigint * ${1 + 2 * pairs} + step as seq, (step + 1) / 2 as pair,
      'acct_${name}x' || i as account, 'key_${name}x' || i as key,
      case when step = 0 then 'credit' when step % 2 = 1 then 'hold' else 'settle' end::ledger.kind as kind
    from generate_series(${from}, ${upTo}) i, generate_series(0, ${2 * pairs}) step`
  const id = "kind || ':' || account || case when kind = 'credit' then '' else 'x' || pair end"
  const posted = `${CREDIT_MICRO} - ${COST_MICRO} * (step / 2)`
  const amount = `case kind when 'credit' then ${CREDIT_MICRO} when 'hold' then ${HELD_MICRO} else ${COST_MICRO} end`
  const held = `case when kind = 'hold' then ${HELD_MICRO} else 0 end`
  return `
    insert into auth.accounts (id) select 'acct_${name}x' || i from generate_series(${from}, ${upTo}) i;
    insert into auth.users (id, wallet, account_id)
      select 'usr_${name}x' || i, '${name} wallet ' || i, 'acct_${name}x' || i from generate_series(${from}, ${upTo}) i;
    insert into keys.key (id, user_id, account_id, name, last4)
      select 'key_${name}x' || i, 'usr_${name}x' || i, 'acct_${name}x' || i, 'seeded', '0000' from generate_series(${from}, ${upTo}) i;
    insert into ledger.account (id, posted_micro)
      select 'acct_${name}x' || i, ${CREDIT_MICRO - COST_MICRO * pairs} from generate_series(${from}, ${upTo}) i;
    insert into ledger.key_cap (id, account, spent_micro, life_spent_micro)
      select 'key_${name}x' || i, 'acct_${name}x' || i, ${COST_MICRO * pairs}, ${COST_MICRO * pairs} from generate_series(${from}, ${upTo}) i;
    create temporary table entries as ${entries};
    insert into ledger.op (id, content, kind, amount_micro, shortfall_micro, available_micro, at)
      select ${id}, md5(seq::text)::uuid, kind, ${amount}, 0, ${posted} - ${held}, now() from entries;
    insert into ledger.journal (seq, at, op_id, kind, account, key, window_no, hold, amount_micro, hold_micro, shortfall_micro, posted_micro, held_micro, content, detail)
      select seq, now(), ${id}, kind, account, case when kind <> 'credit' then key end, case when kind <> 'credit' then 1 end,
        case when kind <> 'credit' then 'hold:' || account || 'x' || pair end,
        case kind when 'credit' then ${CREDIT_MICRO} when 'settle' then -${COST_MICRO} else 0 end,
        case kind when 'hold' then ${HELD_MICRO} when 'settle' then -${HELD_MICRO} else 0 end,
        0, ${posted}, ${held}, md5(seq::text)::uuid, '{"v":1}' from entries;
    insert into ledger.posting (seq, at, account, amount_micro)
      select seq, now(), side.account, side.amount from entries, lateral (values
        (entries.account, case kind when 'credit' then ${CREDIT_MICRO} else -${COST_MICRO} end),
        (case kind when 'credit' then 'system:grants' else 'system:provider_cost' end, case kind when 'credit' then -${CREDIT_MICRO} else ${COST_MICRO} end)
      ) side (account, amount) where kind <> 'hold';
    drop table entries`
}

/** Keys that are known, evenly over the accounts. */
async function insertSecrets(run: Run, name: string, of: { keys: number; accounts: number }): Promise<string[]> {
  const secrets = Array.from({ length: of.keys }, () => newKeySecret(randomBytes(KEY_RANDOM_BYTES)))
  const every = Math.floor(of.accounts / of.keys)
  const rows = secrets.map((secret, index) => `('${hashKey(secret)}', 'key_${name}x${index * every + 1}')`)
  if (rows.length > 0) await run(`insert into keys.secret (hash, key_id) values ${rows.join(', ')}`)
  return secrets
}
