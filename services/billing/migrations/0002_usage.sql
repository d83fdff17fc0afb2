-- What was used, by day (UTC), model and key: a read model of the ledger's settlements, rebuilt from their events.
create table usage_day (
  account text not null,
  day date not null,
  model text not null,
  -- The empty text stands for a session.
  key text not null,
  requests bigint not null,
  prompt_tokens bigint not null,
  cached_tokens bigint not null,
  completion_tokens bigint not null,
  cost_micro bigint not null,
  primary key (account, day, model, key)
);

-- Settlements that were counted: an event that comes twice counts once.
create table usage_counted (
  id text primary key,
  at timestamptz not null
);
create index usage_counted_at on usage_counted (at);

grant select, insert, update on usage_day to billing;
grant select, insert on usage_counted to billing;
-- To begin anew, and to forget ids that are older than the stream of events.
grant delete on usage_day to billing;
grant delete on usage_counted to billing;
