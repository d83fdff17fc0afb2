import type { AccountId, KeyId, ledger, ReplyOf, RequestOf } from '@tollgate/contracts'
import { type Database, DatabaseUnavailable, openDatabase } from '@tollgate/db'
import { auditSql, type BrokenRow } from './checks.ts'
import type { DutyName } from './duty.ts'
import { entryOf, type JournalRow } from './journal.ts'
import type { Outcome, Prepared } from './operation.ts'
import { named, packed } from './pack.ts'

export type Store = ReturnType<typeof openStore>

export interface StoreOptions {
  /** One connection per lane of the batcher, and nothing else on them. */
  writes: Database
  reads: Database
}

/** The function says what its parameters are, and the driver passes an array that Postgres could have written as it is. */
const APPLY = `
  select outcomes::text, amounts::text, shortfalls::text, availables::text
  from ledger.apply($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

const OPEN = 'select ledger.open_accounts($1, $2, $3)'
/** An account or a key is used for the first time. */
const NOT_OPEN = 'LG001'
type Answers = Record<'outcomes' | 'amounts' | 'shortfalls' | 'availables', string>

const ENTRY = `
  seq, op_id, kind, account, key, hold, refusal, amount_micro, shortfall_micro, posted_micro, held_micro, detail,
  (extract(epoch from at) * 1000)::bigint as at_ms`

/** Two batches that met in the wrong order, or a lock that took too long: nothing was done, and again it will be. */
const TRANSIENT_CODES = ['40001', '40P01', '55P03']

/** All the SQL of the service beside its migrations. */
export function openStore({ writes, reads }: StoreOptions) {
  return {
    /** Decides a batch in one statement. Throws `DatabaseUnavailable` when it may or may not have happened. */
    async apply(batch: readonly Prepared[]): Promise<Outcome[]> {
      const decide = () => writes.query<Answers>(APPLY, packed(batch))
      const [row] = await decide()
        .catch(async fault => {
          if (!hasCode(fault, NOT_OPEN)) throw fault
          await writes.query(OPEN, named(batch))
          return decide()
        })
        .catch(transient)
      if (!row) throw new Error('ledger.apply answered nothing')
      const [outcomes, amounts, shortfalls, availables] = [
        row.outcomes,
        row.amounts,
        row.shortfalls,
        row.availables,
      ].map(items)
      return batch.map((_, index) => ({
        // The function answers in these words.
        outcome: outcomes?.[index] as Outcome['outcome'],
        amountMicro: BigInt(amounts?.[index] ?? 0),
        shortfallMicro: BigInt(shortfalls?.[index] ?? 0),
        availableMicro: BigInt(availables?.[index] ?? 0),
      }))
    },

    /** Takes or renews a duty; answers how far it got, or null while another ledger holds it. */
    async claim(name: DutyName, holder: string, leaseMs: number): Promise<bigint | null> {
      const [row] = await reads.query<{ progress: bigint }>(
        `update ledger.duty set holder = $2, held_until = clock_timestamp() + $3::int * interval '1 millisecond'
         where name = $1 and (holder = $2 or held_until < clock_timestamp()) returning progress`,
        [name, holder, leaseMs],
      )
      return row?.progress ?? null
    },

    async progressed(name: DutyName, progress: bigint): Promise<void> {
      await reads.query('update ledger.duty set progress = greatest(progress, $2::text::bigint) where name = $1', [
        name,
        progress.toString(),
      ])
    },

    /** Holds whose time is over, the longest first. */
    due(limit: number): Promise<{ id: string; account: AccountId }[]> {
      return reads.query(
        'select id, account from ledger.open_hold where expires_at <= clock_timestamp() order by expires_at limit $1::int',
        [limit],
      )
    },

    /** The last seq that was given out, committed or not. */
    async lastSeq(): Promise<bigint> {
      const [row] = await reads.query<{ seq: bigint }>(
        'select case when is_called then last_value else 0 end as seq from ledger.journal_seq',
        [],
      )
      return row?.seq ?? 0n
    },

    /** A transaction number above every one that was given out. */
    async nextTransaction(): Promise<bigint> {
      const [row] = await reads.query<{ id: string }>('select pg_current_xact_id()::text as id', [])
      return BigInt(row?.id ?? 0)
    },

    /** Every transaction with a lower number has ended. */
    async oldestTransaction(): Promise<bigint> {
      const [row] = await reads.query<{ id: string }>('select pg_snapshot_xmin(pg_current_snapshot())::text as id', [])
      return BigInt(row?.id ?? 0)
    },

    async entriesBetween(after: bigint, upTo: bigint, limit: number): Promise<ledger.JournalEntry[]> {
      const rows = await reads.query<JournalRow>(
        `select ${ENTRY} from ledger.journal where seq > $1::text::bigint and seq <= $2::text::bigint order by seq limit $3::int`,
        [after.toString(), upTo.toString(), limit],
      )
      return rows.map(entryOf)
    },

    /** The journal's months from this one on. */
    async ensurePartitions(monthsAhead: number): Promise<void> {
      await reads.query('select ledger.ensure_partitions($1::int)', [monthsAhead])
    },

    async reachable(): Promise<boolean> {
      return (await reads.query('select 1', [])).length === 1
    },

    /** An account that the ledger has never seen has zero of each. */
    async balance(account: AccountId): Promise<ReplyOf<typeof ledger.balance>> {
      const [row] = await reads.query<{ posted_micro: bigint; held_micro: bigint }>(
        'select posted_micro, held_micro from ledger.account where id = $1',
        [account],
      )
      const { posted_micro: postedMicro, held_micro: heldMicro } = row ?? { posted_micro: 0n, held_micro: 0n }
      return { postedMicro, heldMicro, availableMicro: postedMicro - heldMicro }
    },

    /** In the order of `keys`. A window that is over counts nothing, though no operation has begun the new one yet. */
    async keySpend(account: AccountId, keys: readonly KeyId[]): Promise<ReplyOf<typeof ledger.keySpend>['keys']> {
      type Row = {
        key: KeyId
        cap_micro: bigint | null
        cap_window: ledger.CapWindow
        spent_micro: bigint
        held_micro: bigint
        resets_at_ms: bigint | null
      }
      const rows = await reads.query<Row>(
        `select asked.id as key, k.cap_micro, coalesce(k.cap_window, 'none') as cap_window,
           case when k.id is null or over then 0 when cap_window = 'none' then life_spent_micro else spent_micro end as spent_micro,
           case when k.id is null or over then 0 when cap_window = 'none' then life_held_micro else held_micro end as held_micro,
           (extract(epoch from nullif(ledger.next_reset(k.cap_window, now()), 'infinity')) * 1000)::bigint as resets_at_ms
         from json_array_elements_text($2::text::json) with ordinality asked (id, place)
         left join lateral (select *, resets_at <= now() as over from ledger.key_cap where id = asked.id and account = $1) k on true
         order by place`,
        [account, JSON.stringify(keys)],
      )
      return rows.map(row => ({
        key: row.key,
        capMicro: row.cap_micro,
        window: row.cap_window,
        spentMicro: row.spent_micro,
        heldMicro: row.held_micro,
        resetsAt: row.resets_at_ms === null ? null : Number(row.resets_at_ms),
      }))
    },

    /** Newest first; no kinds means all. A look-up per kind, so that an account's few credits are found among its millions of holds. */
    async history(request: RequestOf<typeof ledger.history>): Promise<ReplyOf<typeof ledger.history>> {
      const rows = await reads.query<JournalRow>(
        `select ${ENTRY} from (
           select wanted from unnest(enum_range(null::ledger.kind)) wanted
           where $2::text = '[]' or wanted::text in (select json_array_elements_text($2::text::json))
         ) kinds, lateral (
           select * from ledger.journal
           where account = $1 and kind = wanted and seq < $3::text::bigint order by seq desc limit $4::int
         ) entries
         order by seq desc limit $4::int`,
        [request.account, JSON.stringify(request.kinds), request.before ?? BEFORE_ALL, request.limit],
      )
      const entries = rows.map(entryOf)
      return { entries, next: entries.length === request.limit ? (entries.at(-1)?.seq ?? null) : null }
    },
  }
}

/** Every row that breaks one of the checks, of one snapshot of the ledger; none when all is well. */
export function audit(database: Database): Promise<BrokenRow[]> {
  return database.query<BrokenRow>(auditSql, [])
}

/** Drops what is old enough, in steps that each are one statement. Needs the owner's role. */
export async function retire(database: Database, journalDays: number, opDays: number) {
  const [dropped] = await database.query<{ months: number }>(
    "select ledger.retire_journal(now() - $1::int * interval '1 day') as months",
    [journalDays],
  )
  let operations = 0
  for (;;) {
    const [step] = await database.query<{ gone: number }>(
      "select ledger.retire_ops(now() - $1::int * interval '1 day', $2::int) as gone",
      [opDays, OPS_PER_STEP],
    )
    if (!step?.gone) return { months: dropped?.months ?? 0, operations }
    operations += step.gone
  }
}

/** Few enough that a step holds no lock for long. */
const OPS_PER_STEP = 10_000

/** An audit reads the whole journal: more patience than the role has, on a connection of its own, of any role. */
export function openAudits(url: string): Database {
  const patient = new URL(url)
  patient.searchParams.set('search_path', 'ledger')
  patient.searchParams.set('statement_timeout', String(AUDIT_TIMEOUT_MS))
  return openDatabase({
    url: patient.href,
    connections: 1,
    queryTimeoutMs: AUDIT_TIMEOUT_MS + 1_000,
    applicationName: 'ledger audit',
  })
}

const AUDIT_TIMEOUT_MS = 600_000
const BEFORE_ALL = '9223372036854775807'

/** The items of an array of plain words or numbers, as Postgres writes it. */
function items(text: string): string[] {
  return text.slice(1, -1).split(',')
}

function transient(fault: unknown): never {
  if (hasCode(fault, ...TRANSIENT_CODES)) {
    throw new DatabaseUnavailable('the batch was turned back', { cause: fault })
  }
  throw fault
}

function hasCode(fault: unknown, ...codes: string[]): boolean {
  return fault instanceof Error && 'code' in fault && codes.includes(String(fault.code))
}
