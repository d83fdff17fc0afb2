/** What must be true of the ledger's rows at every moment. `sql` selects the rows that break it: row, expected, found. */
export interface Check {
  name: string
  guarantee: string
  sql: string
}

/** A row that breaks a check, by what it should be. */
export interface BrokenRow {
  check: string
  row: string
  expected: string | null
  found: string | null
}

const closes = "kind in ('settle', 'release', 'expire') and refusal is null and hold is not null"

export const checks: readonly Check[] = [
  {
    name: 'balance',
    guarantee: "every account's postings sum to its balance",
    sql: `
      select coalesce(a.id, p.account), coalesce(p.total, 0)::text, coalesce(a.posted_micro, 0)::text
      from account a full join (
        select account, sum(amount_micro) as total from (
          select account, amount_micro from posting union all select account, posted_micro from carried_account
        ) amounts where account like 'acct\\_%' group by account
      ) p on p.account = a.id
      where coalesce(a.posted_micro, 0) <> coalesce(p.total, 0)`,
  },
  {
    name: 'zero',
    guarantee: 'the postings of every entry sum to zero, and so do all together',
    sql: `
      select 'seq ' || seq, '0', sum(amount_micro)::text from posting group by seq having sum(amount_micro) <> 0
      union all
      select 'all postings', '0', sum(total)::text from (
        select sum(amount_micro) as total from posting union all select sum(posted_micro) from carried_account
      ) totals having sum(total) <> 0`,
  },
  {
    name: 'entry',
    guarantee: 'every entry is posted as it says',
    sql: `
      select 'seq ' || coalesce(j.seq, p.seq), j.moved, p.moved
      from (
        select seq, concat(nullif(amount_micro, 0), ' short ', nullif(shortfall_micro, 0)) as moved
        from journal where amount_micro <> 0 or shortfall_micro <> 0
      ) j full join (
        select seq, concat(sum(amount_micro) filter (where account like 'acct\\_%'), ' short ',
          -sum(amount_micro) filter (where account = 'system:shortfall')) as moved
        from posting group by seq
      ) p on p.seq = j.seq
      where j.moved is distinct from p.moved`,
  },
  {
    name: 'chain',
    guarantee:
      'every entry continues from the balance that the one before it left, and the last left the balance of today',
    sql: `
      select account || ' seq ' || seq, concat(before_posted + amount_micro, ' held ', before_held + hold_micro), concat(posted_micro, ' held ', held_micro)
      from (
        select *, lag(posted_micro) over entries as before_posted, lag(held_micro) over entries as before_held
        from journal window entries as (partition by account order by seq)
      ) chained
      where (before_posted + amount_micro, before_held + hold_micro) <> (posted_micro, held_micro)
      union all
      select a.id, concat(j.posted_micro, ' held ', j.held_micro), concat(a.posted_micro, ' held ', a.held_micro)
      from account a join (select distinct on (account) * from journal order by account, seq desc) j on j.account = a.id
      where (a.posted_micro, a.held_micro) <> (j.posted_micro, j.held_micro)`,
  },
  {
    name: 'held',
    guarantee: 'what an account has held is the sum of its open holds',
    sql: `
      select coalesce(a.id, h.account), coalesce(h.total, 0)::text, coalesce(a.held_micro, 0)::text
      from account a full join (select account, sum(granted_micro) as total from open_hold group by account) h on h.account = a.id
      where coalesce(a.held_micro, 0) <> coalesce(h.total, 0)`,
  },
  {
    name: 'key held',
    guarantee: "what counts as held against a key's cap is the sum of its open holds: of this window, and of its life",
    sql: `
      select k.id, concat(coalesce(w.total, 0), ' life ', coalesce(l.total, 0)), concat(k.held_micro, ' life ', k.life_held_micro)
      from key_cap k
      left join (select key, window_no, sum(granted_micro) as total from open_hold group by 1, 2) w on w.key = k.id and w.window_no = k.window_no
      left join (select key, sum(granted_micro) as total from open_hold group by 1) l on l.key = k.id
      where (k.held_micro, k.life_held_micro) <> (coalesce(w.total, 0), coalesce(l.total, 0))`,
  },
  {
    name: 'key spent',
    guarantee: 'what a key has spent is the sum of what was charged to it: in this window, and in its life',
    sql: `
      with sums as (
        select key, no, sum(spent) as total from (
          select key, no, -amount_micro as spent from journal, lateral (values (window_no), (0)) numbers (no)
          where kind in ('settle', 'expire') and key is not null
          union all select key, window_no, spent_micro from carried_key
        ) charges group by 1, 2
      )
      select k.id, concat(coalesce(w.total, 0), ' life ', coalesce(l.total, 0)), concat(k.spent_micro, ' life ', k.life_spent_micro)
      from key_cap k
      left join sums w on w.key = k.id and w.no = k.window_no
      left join sums l on l.key = k.id and l.no = 0
      where (k.spent_micro, k.life_spent_micro) <> (coalesce(w.total, 0), coalesce(l.total, 0))`,
  },
  {
    name: 'never below zero',
    guarantee: 'nothing is negative: neither what is held, nor what is available, nor what a key has spent',
    sql: `
      select id, '>= 0', concat(posted_micro, ' held ', held_micro) from account where held_micro < 0 or posted_micro < held_micro
      union all
      select id, '>= 0', concat(spent_micro, ' held ', held_micro) from key_cap where spent_micro < 0 or held_micro < 0
      union all
      select 'seq ' || seq, '>= 0', concat(posted_micro, ' held ', held_micro) from journal where held_micro < 0 or posted_micro < held_micro`,
  },
  {
    name: 'journalled once',
    guarantee: 'every operation is journalled exactly once, with the outcome that was answered',
    sql: `
      select coalesce(j.op_id, o.id), concat(o.kind, ' ', o.refusal, ' once'), concat(j.kind, ' ', j.refusal, ' ', coalesce(j.times, 0), ' times')
      from (
        select op_id, min(kind) as kind, min(refusal) as refusal, count(*) as times, min(at) as at from journal group by op_id
      ) j full join op o on o.id = j.op_id
      where (j.times is distinct from 1 and (j.times is not null or o.at >= (select journal_from from horizon)))
        or (o.id is null and j.at >= (select op_from from horizon))
        or (o.id is not null and j.op_id is not null and (o.kind, o.refusal) is distinct from (j.kind, j.refusal))`,
  },
  {
    name: 'open hold',
    guarantee: 'every open hold was granted, and nothing has closed it',
    sql: `
      select h.id, 'granted, not closed', concat(coalesce(o.kind::text, 'no operation'), ' ', o.refusal, ' closed by ', c.op_id)
      from open_hold h
      left join op o on o.id = h.id
      left join (select hold, min(op_id) as op_id from journal where ${closes} group by hold) c on c.hold = h.id
      where c.op_id is not null
        or (o.id is null and h.expires_at >= (select op_from from horizon)) or o.kind <> 'hold' or o.refusal is not null`,
  },
  {
    name: 'closed hold',
    guarantee:
      'every hold that was granted is open or was closed by one settle, release or expiry (and settled once after an expiry)',
    sql: `
      select hold, 'closed once', concat('closed by ', coalesce(closers, 'nothing, and not open'))
      from (
        select hold, bool_or(kind = 'hold') as granted, count(*) filter (where ${closes}) as times,
          count(*) filter (where kind = 'expire') as expiries, string_agg(op_id, ', ' order by seq) filter (where ${closes}) as closers
        from journal where refusal is null and hold is not null group by hold
      ) h
      where times - least(expiries, 1) > 1 or expiries > 1 or (times > 1 and expiries = 0)
        or (granted and times = 0 and not exists (select from open_hold where id = h.hold))`,
  },
  {
    name: 'expired hold',
    guarantee: 'what waits for a late settlement has expired, and has not been settled',
    sql: `
      select x.id, 'expired, not settled', concat(coalesce(o.kind::text, 'not expired'), ' ', s.op_id)
      from expired_hold x
      left join op o on o.id = 'expire:' || x.id
      left join journal s on s.hold = x.id and s.kind = 'settle' and s.refusal is null
      where o.id is null or s.op_id is not null or exists (select from open_hold where id = x.id)`,
  },
]

/** Broken rows of one check at most: the first ones tell what is wrong. */
const ROWS_PER_CHECK = 20

/** All checks as one statement, hence of one snapshot: right while money moves. */
export const auditSql = checks
  .map(
    ({ name, sql }) =>
      `(select '${name}' as "check", broken.* from (${sql}) broken ("row", expected, found) limit ${ROWS_PER_CHECK})`,
  )
  .join('\nunion all\n')
