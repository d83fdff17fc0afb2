create table key (
  id text primary key,
  user_id text not null,
  account_id text not null,
  name text not null,
  last4 text not null,
  -- Models that the key may use; null for all.
  models text[],
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
create index key_active on key (user_id, created_at desc) where revoked_at is null;

-- SHA-256 of a full key. A roll adds one and gives the former ones an end.
create table secret (
  hash text primary key,
  key_id text not null references key,
  ends_at timestamptz
);
create index secret_of_key on secret (key_id);

-- Creates a key unless its user has `most` of them. The lock makes a user's creations wait for each other, and each
-- statement in here sees what the one before it committed, so that the bound holds under any concurrency.
create function create_key(
  new_id text, owner text, account text, label text, tail text, new_hash text, allowed text[], expiry timestamptz, most int
) returns timestamptz language plpgsql as $$
declare
  born timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('keys of ' || owner, 0));
  if (select count(*) from keys.key where user_id = owner and revoked_at is null) >= most then
    return null;
  end if;
  insert into keys.key (id, user_id, account_id, name, last4, models, expires_at)
  values (new_id, owner, account, label, tail, allowed, expiry) returning created_at into born;
  insert into keys.secret (hash, key_id) values (new_hash, new_id);
  return born;
end $$;

-- Gives a key a new secret and its live ones an end. 'unknown': not this user's, or revoked. 'crowded': `most` are live
-- and the grace would keep them so. Else 'rolled', and the former secrets' hashes.
create function roll_key(
  rolled_id text, owner text, new_hash text, tail text, grace interval, most int, out outcome text, out former text[]
) language plpgsql as $$
begin
  perform from keys.key where id = rolled_id and user_id = owner and revoked_at is null for no key update;
  if not found then
    outcome := 'unknown';
    return;
  end if;
  delete from keys.secret where key_id = rolled_id and ends_at <= now();
  if grace > interval '0' and (select count(*) from keys.secret where key_id = rolled_id) >= most then
    outcome := 'crowded';
    return;
  end if;
  with ended as (
    update keys.secret set ends_at = least(ends_at, now() + grace) where key_id = rolled_id returning hash
  ) select array_agg(hash) into former from ended;
  insert into keys.secret (hash, key_id) values (new_hash, rolled_id);
  update keys.key set last4 = tail where id = rolled_id;
  outcome := 'rolled';
end $$;

grant select, insert, update (name, last4, models, last_used_at, expires_at, revoked_at) on key to keys;
grant select, insert, delete, update (ends_at) on secret to keys;
grant execute on function create_key, roll_key to keys;
