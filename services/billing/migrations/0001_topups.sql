-- A quote, and what the payer was asked for. Never changed but for its blockhash.
create table intent (
  id text primary key,
  reference text not null unique,
  account text not null,
  usd_micro bigint not null check (usd_micro > 0),
  token_raw numeric(20) not null check (token_raw > 0),
  decimals integer not null check (decimals between 0 and 18),
  mint text not null,
  treasury text not null,
  network text not null,
  -- USD per whole token, with 18 decimals, and where it came from.
  price_scaled numeric(40) not null check (price_scaled > 0),
  price_sources jsonb not null,
  blockhash text not null,
  last_valid_block_height bigint not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index intent_of_account on intent (account, created_at desc, id desc);

-- Every payment that the treasury received, whoever it is for.
create table payment (
  signature text primary key,
  intent text references intent (id),
  network text not null,
  mint text not null,
  treasury text not null,
  slot bigint not null,
  block_time timestamptz,
  delta_raw numeric(20) not null check (delta_raw > 0),
  -- What counts for the intent; zero without one.
  attributed_raw numeric(20) not null check (attributed_raw between 0 and delta_raw),
  legs jsonb not null,
  settled boolean not null,
  -- 'received': recorded, not yet looked at together with its intent.
  state text not null check (
    state in ('received', 'processing', 'credited', 'underpaid', 'late', 'multiple', 'unmatched', 'vanished')
  ),
  received_at timestamptz not null default now(),
  -- Set by the operator: what was done about an exception, and when.
  resolved_at timestamptz,
  check ((intent is null) <= (attributed_raw = 0))
);
create index payment_of_intent on payment (intent);
create index payment_unassessed on payment (received_at) where state = 'received';
create index payment_exception on payment (received_at)
  where state in ('underpaid', 'late', 'multiple', 'unmatched', 'vanished') and resolved_at is null;

-- The one claim on an intent: whoever inserts it decides what is credited. A signature credits at most one intent.
create table settlement (
  intent text primary key references intent (id),
  signature text not null unique references payment (signature),
  signatures text[] not null,
  received_raw numeric(20) not null,
  amount_micro bigint not null check (amount_micro > 0),
  claimed_at timestamptz not null default now(),
  -- Each step that has to follow, set when it is done.
  credited_at timestamptz,
  published_at timestamptz,
  -- The owner's first successful verify: it alone answers 200.
  verified_at timestamptz
);
create index settlement_unfinished on settlement (claimed_at) where credited_at is null or published_at is null;

-- What operators wrote about a payment.
create table payment_note (
  id bigint generated always as identity primary key,
  signature text not null references payment (signature),
  text text not null check (length(text) between 1 and 500),
  adjustment text,
  amount_micro bigint,
  at timestamptz not null default now()
);
create index payment_note_of on payment_note (signature);

grant select, insert on intent to billing;
grant update (blockhash, last_valid_block_height) on intent to billing;
grant select, insert on payment to billing;
grant update (slot, block_time, settled, state, resolved_at) on payment to billing;
grant select, insert on settlement to billing;
grant update (credited_at, published_at, verified_at) on settlement to billing;
grant select, insert on payment_note to billing;
