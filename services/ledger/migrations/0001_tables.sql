-- Postgres is the only truth about money. All amounts are micro-USD. Ids sort as bytes ("C"), as they do in the service,
-- because every batch locks in id order.

create type kind as enum ('hold', 'extend', 'settle', 'release', 'expire', 'credit', 'adjust', 'set_cap', 'close_key');
create type refusal as enum ('insufficient_credits', 'cap_reached', 'key_closed', 'id_reused', 'hold_closed', 'unknown_hold');
create type cap_window as enum ('none', 'daily', 'weekly', 'monthly');

-- posted - held is what may still be promised. The checks hold whatever code runs.
create table account (
  id text collate "C" primary key,
  posted_micro bigint not null default 0,
  held_micro bigint not null default 0,
  constraint held_not_negative check (held_micro >= 0),
  constraint available_not_negative check (posted_micro - held_micro >= 0),
  -- What a JSON number holds exactly: nine billion dollars.
  constraint posted_fits_the_wire check (posted_micro <= 9007199254740991)
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- A key's cap and what counts against it: what the window has spent and holds, or, where there is no window, the key's life.
-- window_no numbers the windows that the key has had: a hold is stamped with it, so that a settlement after midnight touches
-- the window that the hold was granted in.
create table key_cap (
  id text collate "C" primary key,
  account text collate "C" not null,
  cap_micro bigint,
  cap_window cap_window not null default 'none',
  window_no bigint not null default 1,
  resets_at timestamptz not null default 'infinity',
  spent_micro bigint not null default 0,
  held_micro bigint not null default 0,
  life_spent_micro bigint not null default 0,
  life_held_micro bigint not null default 0,
  closed boolean not null default false,
  constraint cap_not_negative check (cap_micro >= 0),
  constraint spent_not_negative check (spent_micro >= 0 and life_spent_micro >= spent_micro),
  constraint key_held_not_negative check (held_micro >= 0 and life_held_micro >= held_micro)
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Rows live for one request, so the table is small and its dead rows many: vacuum early and without pauses.
create table open_hold (
  id text collate "C" primary key,
  account text collate "C" not null,
  key text collate "C",
  window_no bigint,
  granted_micro bigint not null check (granted_micro >= 0),
  cost_micro bigint not null default 0 check (cost_micro >= 0),
  expires_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create index open_hold_expiry on open_hold (expires_at);

-- A hold that expired may still be settled, once: what its expiry charged, and what it could not.
create table expired_hold (
  id text collate "C" primary key,
  account text collate "C" not null,
  key text collate "C",
  window_no bigint,
  charged_micro bigint not null,
  shortfall_micro bigint not null,
  at timestamptz not null
);

-- One row an operation, for ever the first answer. content is null where a release refused a hold that had not arrived.
create table op (
  id text collate "C" primary key,
  content uuid,
  kind kind not null,
  refusal refusal,
  amount_micro bigint not null,
  shortfall_micro bigint not null,
  available_micro bigint not null,
  at timestamptz not null
) with (autovacuum_vacuum_insert_scale_factor = 0.1);
-- For retention: rows lie in the order of their time.
create index op_at on op using brin (at);

-- Append only: what happened, refusals included, with the balance after it. amount is the change of the posted balance,
-- hold the change of the held one.
create sequence journal_seq;
create table journal (
  seq bigint not null,
  at timestamptz not null,
  op_id text collate "C" not null,
  kind kind not null,
  account text collate "C" not null,
  key text collate "C",
  window_no bigint,
  hold text collate "C",
  refusal refusal,
  amount_micro bigint not null,
  hold_micro bigint not null,
  shortfall_micro bigint not null,
  posted_micro bigint not null,
  held_micro bigint not null,
  content uuid,
  detail json not null,
  primary key (seq, at),
  constraint a_refusal_moves_nothing check (refusal is null or (amount_micro = 0 and hold_micro = 0 and shortfall_micro = 0))
) partition by range (at);
create index journal_history on journal (account, kind, seq);

-- The double entry: the postings of one seq sum to zero. Customers are acct_…; the other side is a system account
-- (treasury:<network>:<mint>:<address>, system:provider_cost, system:shortfall, system:grants, system:adjustments), whose balance
-- is the sum of its postings and never a row that everybody would lock.
create table posting (
  seq bigint not null,
  at timestamptz not null,
  account text collate "C" not null,
  amount_micro bigint not null check (amount_micro <> 0)
) partition by range (at);

-- What retired partitions held, so that sums over the journal stay whole; and from when on it is all still there.
create table carried_account (
  account text collate "C" primary key,
  posted_micro bigint not null
);
-- window_no 0 is the key's life.
create table carried_key (
  key text collate "C",
  window_no bigint,
  spent_micro bigint not null,
  primary key (key, window_no)
);
create table horizon (
  one boolean primary key default true check (one),
  journal_from timestamptz not null default '-infinity',
  op_from timestamptz not null default '-infinity'
);
insert into horizon default values;

-- Work that one of several ledgers does at a time: a lease, renewed by its holder. It saves doing things twice; nothing
-- depends on it being exclusive. progress: the last seq of the journal that was relayed.
create table duty (
  name text primary key,
  holder text,
  held_until timestamptz not null default '-infinity',
  progress bigint not null default 0
);
insert into duty (name) values ('relay'), ('sweep'), ('audit');

-- The service's role reads, and writes money through ledger.apply alone: it has no right to change or delete a row of money.
grant select on account, key_cap, open_hold, expired_hold, op, journal, posting, carried_account, carried_key, horizon, duty, journal_seq to ledger;
grant update on duty to ledger;
