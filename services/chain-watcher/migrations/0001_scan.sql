-- Where the scan of a token account stands. A chain with another genesis hash has a cursor of its own.
create table scan_cursor (
  genesis_hash text not null,
  token_account text not null,
  slot bigint not null check (slot >= 0),
  moved_at timestamptz not null default now(),
  primary key (genesis_hash, token_account)
);

-- Every transaction that a node listed for the treasury's token account, and what became of it.
create table sighting (
  signature text primary key,
  genesis_hash text not null,
  token_account text not null,
  slot bigint not null,
  state text not null default 'listed' check (state in ('listed', 'nothing', 'payment', 'parked', 'vanished')),
  -- Tries of the present step (to read it; to see it finalized), when the next is due, and why the last one failed.
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  note text,
  -- Set with state 'payment': how deep it was when it was last read, and the payment as it goes out.
  commitment text check (commitment in ('confirmed', 'finalized')),
  payment jsonb,
  -- What was last told to others: a commitment, or 'vanished'.
  announced text,
  seen_at timestamptz not null default now(),
  check ((state = 'payment') <= (payment is not null and commitment is not null))
);

create index sighting_unread on sighting (due_at) where state in ('listed', 'parked');
create index sighting_unfinal on sighting (due_at)
  where state = 'payment' and (commitment = 'confirmed' or payment ->> 'blockTimeMs' is null);
create index sighting_untold on sighting (seen_at)
  where (state = 'payment' and announced is distinct from commitment)
     or (state = 'vanished' and announced is distinct from 'vanished');
-- `chain.payment` finds payments by a reference inside their legs.
create index sighting_payment on sighting using gin (payment jsonb_path_ops) where state = 'payment';

grant select, insert, update on scan_cursor to chain_watcher;
grant select, insert, update on sighting to chain_watcher;
