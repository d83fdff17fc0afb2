-- The next start of a cap's window: midnight UTC; weeks begin on Monday.
create function next_reset(p_window cap_window, p_at timestamptz) returns timestamptz
language sql stable set search_path = ledger, pg_temp as $$
  select case p_window
    when 'none' then 'infinity'::timestamptz
    when 'daily' then (date_trunc('day', p_at at time zone 'UTC') + interval '1 day') at time zone 'UTC'
    when 'weekly' then (date_trunc('week', p_at at time zone 'UTC') + interval '1 week') at time zone 'UTC'
    when 'monthly' then (date_trunc('month', p_at at time zone 'UTC') + interval '1 month') at time zone 'UTC'
  end
$$;

-- A release came before its hold: the hold is refused and journalled now. Its content is null, since nobody has seen it.
create function refuse_early(p_hold text, p_account text, p_at timestamptz) returns void
language sql volatile set search_path = ledger, pg_temp as $$
  insert into op (id, kind, refusal, amount_micro, shortfall_micro, available_micro, at)
  values (p_hold, 'hold', 'hold_closed', 0, 0, 0, p_at);
  insert into journal (seq, at, op_id, kind, account, hold, refusal, amount_micro, hold_micro, shortfall_micro, posted_micro, held_micro, detail)
  select nextval('ledger.journal_seq'), p_at, p_hold, 'hold', id, p_hold, 'hold_closed', 0, 0, 0, posted_micro, held_micro, '{"v":1}'
  from account where id = p_account;
$$;

-- Opens accounts and keys at their first use. A statement of its own, before any lock is taken: who inserts waits for others
-- who insert the same, and would hold up everybody if it held locks meanwhile.
create function open_accounts(p_accounts text[], p_keys text[], p_key_accounts text[]) returns void
language sql volatile security definer set search_path = ledger, pg_temp as $$
  insert into account (id) select distinct id from unnest(p_accounts) id order by id on conflict do nothing;
  insert into key_cap (id, account)
  select distinct on (id) id, account from unnest(p_keys, p_key_accounts) named (id, account) where id is not null order by id
  on conflict do nothing;
$$;

-- What the journal says of an operation, beside the operation itself: op is its place in the batch.
create type movement as (
  op int, seq bigint, key text, window_no bigint, refusal refusal,
  amount_micro bigint, hold_micro bigint, shortfall_micro bigint, posted_micro bigint, held_micro bigint);

-- Decides a batch of operations of any mix, in their order, in the one transaction of one statement.
--
-- VOLATILE plpgsql, so that each statement inside sees what was committed before it began: what is read after the locks
-- is fresh. Every operation names its account, and accounts are locked first, in id order; from then on nobody else can
-- change an operation, a hold or a key of theirs. Keys are locked next, also in order. Then the clock is read. Fails with LG001
-- when an account or a key is not open yet.
--
-- p_accounts and p_holds are distinct and sorted by byte; p_account and p_hold are indexes into them. Ids are unique within
-- the batch. p_new: the holds that the batch itself asks for. What each kind reads besides:
--   hold     p_key, p_amount (most), p_floor (least), p_ttl_ms; p_hold is its own id
--   extend   p_hold, p_amount (cost so far), p_ttl_ms; has no id, is not journalled
--   settle   p_hold, p_amount (cost)       release, expire  p_hold
--   credit   p_amount                      adjust           p_amount, signed
--   set_cap  p_key, p_amount (null: no cap), p_window       close_key  p_key
-- p_contra is the system account on the other side of the entry.
--
-- Answers by operation: outcome = 'done', 'skipped' (an expiry that was not due) or the refusal; amount = what was granted,
-- charged or freed; shortfall = what a charge could not cover; what is available afterwards.
create function apply(
  p_accounts text[], p_holds text[], p_new boolean[],
  p_id text[], p_kind kind[], p_content uuid[], p_account int[], p_hold int[], p_key text[],
  p_amount bigint[], p_floor bigint[], p_ttl_ms bigint[], p_window cap_window[], p_contra text[], p_detail text[],
  out outcomes text[], out amounts bigint[], out shortfalls bigint[], out availables bigint[])
language plpgsql volatile security definer
set search_path = ledger, pg_temp
-- Plans are made once a session, maybe before the tables grew, and without knowing the arrays' sizes: look-ups by index only.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  n constant int := cardinality(p_kind);
  now_ timestamptz; written int; answered record; known record;
  any_opened boolean := false; any_closed boolean := false; any_moved boolean := false;
  -- The operation at hand: indexes, and what it does to the account and to its hold.
  a int; h int; k int; state text; in_window boolean;
  refused refusal; posts boolean; amount_ bigint; lacking bigint;
  moved bigint; held bigint; short bigint; cost bigint; granted bigint; room bigint; left_ bigint;
  -- Accounts, keys and holds as the operations so far leave them.
  a_row tid[]; a_posted bigint[]; a_held bigint[];
  k_id text[]; k_row tid[]; k_cap bigint[]; k_window cap_window[]; k_no bigint[]; k_resets timestamptz[];
  k_spent bigint[]; k_held bigint[]; k_life_spent bigint[]; k_life_held bigint[]; k_closed boolean[];
  h_was text[]; h_state text[]; h_account text[]; h_key text[]; h_no bigint[]; h_granted bigint[]; h_cost bigint[];
  h_expires timestamptz[]; h_charged bigint[]; h_short bigint[]; h_early boolean[]; h_extended boolean[];
  -- Holds that a release refused before they came.
  e_hold text[]; e_account text[];
  -- Answers given before, by operation.
  d_content uuid[]; d_outcome text[]; d_amount bigint[]; d_shortfall bigint[]; d_available bigint[];
  movements movement[];
begin
  -- 1. Lock.
  select array_agg(row_), array_agg(posted_micro), array_agg(held_micro) into a_row, a_posted, a_held
  from (select ctid as row_, posted_micro, held_micro from account where id = any (p_accounts) order by id for update) locked;
  if cardinality(a_row) is distinct from cardinality(p_accounts) then
    raise exception 'not every account is open' using errcode = 'LG001';
  end if;

  -- 2. Recall what came before under the same ids, and the holds. A hold that is neither open nor expired was closed, if it ever was.
  for answered in
    select i, d.* from generate_series(1, n) i, lateral (select * from op where id = p_id[i] limit 1) d
  loop
    d_content[answered.i] := answered.content;
    d_outcome[answered.i] := coalesce(answered.refusal::text, 'done');
    d_amount[answered.i] := answered.amount_micro;
    d_shortfall[answered.i] := answered.shortfall_micro;
    d_available[answered.i] := answered.available_micro;
    if p_kind[answered.i] = 'hold' then
      -- Only a hold that was never asked for need not be looked up.
      p_new[p_hold[answered.i]] := false;
    end if;
  end loop;
  h_state := array_fill(null::text, array[cardinality(p_holds)]);
  h_charged := array_fill(0::bigint, array[cardinality(p_holds)]);
  h_short := h_charged;
  if false = any (p_new) then
    for known in
      select i, case when o.id is not null then 'open' when x.id is not null then 'expired' else 'closed' end as state,
             coalesce(o.account, x.account) as account, coalesce(o.key, x.key) as key, coalesce(o.window_no, x.window_no) as window_no,
             o.granted_micro, o.cost_micro, o.expires_at, coalesce(x.charged_micro, 0) as charged_micro,
             coalesce(x.shortfall_micro, 0) as shortfall_micro
      from generate_series(1, cardinality(p_holds)) i
      left join lateral (select * from open_hold where id = p_holds[i] limit 1) o on true
      left join lateral (select * from expired_hold where id = p_holds[i] and o.id is null limit 1) x on true
      left join lateral (select id from op where id = p_holds[i] and o.id is null and x.id is null limit 1) d on true
      where not p_new[i] and num_nonnulls(o.id, x.id, d.id) > 0
    loop
      h := known.i;
      h_state[h] := known.state; h_account[h] := known.account; h_key[h] := known.key; h_no[h] := known.window_no;
      h_granted[h] := known.granted_micro; h_cost[h] := known.cost_micro; h_expires[h] := known.expires_at;
      h_charged[h] := known.charged_micro; h_short[h] := known.shortfall_micro;
    end loop;
  end if;
  h_was := h_state;
  h_early := array_fill(false, array[cardinality(p_holds)]);
  h_extended := h_early;

  -- Keys: those that the operations name, and those of their holds.
  if num_nonnulls(variadic p_key || h_key) > 0 then
    select array_agg(id), array_agg(row_), array_agg(cap_micro), array_agg(cap_window), array_agg(window_no), array_agg(resets_at),
           array_agg(spent_micro), array_agg(held_micro), array_agg(life_spent_micro), array_agg(life_held_micro), array_agg(closed)
    into k_id, k_row, k_cap, k_window, k_no, k_resets, k_spent, k_held, k_life_spent, k_life_held, k_closed
    from (select ctid as row_, * from key_cap where id = any (p_key || h_key) order by id for update) locked;
  end if;

  now_ := clock_timestamp();
  if now_ >= any (k_resets) then
    -- A window that is over begins anew here, lazily: nothing counts against it yet.
    for k in 1 .. cardinality(k_id) loop
      if now_ >= k_resets[k] then
        k_no[k] := k_no[k] + 1; k_resets[k] := next_reset(k_window[k], now_); k_spent[k] := 0; k_held[k] := 0;
      end if;
    end loop;
  end if;

  -- 3. Decide, in the order of arrival.
  for i in 1 .. n loop
    a := p_account[i]; h := p_hold[i]; k := null;
    refused := null; left_ := null; posts := true; amount_ := 0; lacking := 0; moved := 0; held := 0; short := 0;
    room := a_posted[a] - a_held[a];

    -- Asked before: the first answer again, or refused because it is another question.
    if d_outcome[i] is not null then
      if d_content[i] is null or d_content[i] = p_content[i] then
        outcomes[i] := d_outcome[i]; amounts[i] := d_amount[i]; shortfalls[i] := d_shortfall[i]; availables[i] := d_available[i];
      else
        outcomes[i] := 'id_reused'; amounts[i] := 0; shortfalls[i] := 0; availables[i] := room;
      end if;
      continue;
    end if;

    state := null;
    if h is not null then
      -- A hold of another account is not known to this one.
      state := case when h_account[h] <> p_accounts[a] and h_state[h] <> 'closed' then 'foreign' else h_state[h] end;
      refused := case when state is null or state = 'foreign' then 'unknown_hold' when state <> 'open' then 'hold_closed' end;
    end if;
    k := array_position(k_id, case when p_key[i] is not null then p_key[i] when state in ('open', 'expired') then h_key[h] end);
    if k is null and p_key[i] is not null then
      raise exception 'not every key is open' using errcode = 'LG001';
    end if;
    in_window := k is not null and (h is null or h_no[h] is null or h_no[h] = k_no[k]);
    if k is not null and k_cap[k] is not null then
      left_ := case when k_window[k] = 'none' then k_cap[k] - k_life_spent[k] - k_life_held[k]
                    when in_window then k_cap[k] - k_spent[k] - k_held[k] else 0 end;
      room := least(room, greatest(left_, 0));
    end if;

    case p_kind[i]
    when 'hold' then
      if h_early[h] then
        outcomes[i] := 'hold_closed'; amounts[i] := 0; shortfalls[i] := 0; availables[i] := 0;
        continue;
      end if;
      refused := case
        when k is not null and k_closed[k] then 'key_closed'
        when room >= p_floor[i] then null
        when k is not null and left_ < p_floor[i] then 'cap_reached'
        else 'insufficient_credits' end;
      h_state[h] := 'closed';
      if refused is null then
        amount_ := least(p_amount[i], greatest(p_floor[i], room / 2));
        held := amount_; any_opened := true;
        h_state[h] := 'open'; h_account[h] := p_accounts[a]; h_key[h] := p_key[i]; h_granted[h] := amount_; h_cost[h] := 0;
        h_expires[h] := now_ + p_ttl_ms[i] * interval '1 millisecond';
        if k is not null then
          h_no[h] := k_no[k]; k_held[k] := k_held[k] + amount_; k_life_held[k] := k_life_held[k] + amount_;
        end if;
      end if;
    when 'extend' then
      posts := false;
      if refused is null then
        h_expires[h] := greatest(h_expires[h], now_ + p_ttl_ms[i] * interval '1 millisecond');
        h_cost[h] := greatest(h_cost[h], p_amount[i]);
        h_extended[h] := true;
      end if;
    when 'settle', 'expire' then
      if p_kind[i] = 'expire' then
        posts := refused is null and h_expires[h] <= now_;
        if not posts then
          outcomes[i] := 'skipped'; amounts[i] := 0; shortfalls[i] := 0; availables[i] := 0;
          continue;
        end if;
      elsif state = 'expired' then
        refused := null;
      end if;
      if refused is null then
        granted := case when state = 'open' then h_granted[h] else 0 end;
        cost := case when p_kind[i] = 'expire' then h_cost[h] else p_amount[i] end;
        -- In all: what an expiry charged counts, and what it charged too much, by a cost that was only counted, is given back.
        amount_ := least(cost, h_charged[h] + granted + room);
        lacking := cost - amount_;
        moved := h_charged[h] - amount_; held := -granted; any_closed := true;
        -- What the expiry could not cover is part of what is lacking now.
        short := lacking - h_short[h];
        if k is not null then
          k_life_spent[k] := k_life_spent[k] - moved; k_life_held[k] := k_life_held[k] - granted;
        end if;
        if in_window then
          k_spent[k] := k_spent[k] - moved; k_held[k] := k_held[k] - granted;
        end if;
        h_state[h] := case when p_kind[i] = 'expire' then 'expired' else 'closed' end;
        h_charged[h] := amount_; h_short[h] := lacking;
      end if;
    when 'release' then
      if refused is null then
        amount_ := h_granted[h]; held := -amount_; any_closed := true;
        if k is not null then
          k_life_held[k] := k_life_held[k] - amount_;
        end if;
        if in_window then
          k_held[k] := k_held[k] - amount_;
        end if;
        h_state[h] := 'closed';
      elsif state is null then
        -- It overtook its hold, which is refused now, before it came.
        refused := null; h_state[h] := 'closed'; h_early[h] := true;
        e_hold := e_hold || p_holds[h]; e_account := e_account || p_accounts[a];
      end if;
    when 'credit' then
      moved := p_amount[i];
    when 'adjust' then
      if room + p_amount[i] < 0 then
        refused := 'insufficient_credits';
      else
        moved := p_amount[i];
      end if;
    when 'set_cap' then
      k_cap[k] := p_amount[i];
      if k_window[k] <> p_window[i] then
        -- Another window begins now.
        k_window[k] := p_window[i]; k_resets[k] := next_reset(p_window[i], now_);
        k_no[k] := k_no[k] + 1; k_spent[k] := 0; k_held[k] := 0;
      end if;
    when 'close_key' then
      k_closed[k] := true;
    end case;

    a_posted[a] := a_posted[a] + moved;
    a_held[a] := a_held[a] + held;
    room := a_posted[a] - a_held[a];
    if k is not null and k_cap[k] is not null then
      left_ := case when k_window[k] = 'none' then k_cap[k] - k_life_spent[k] - k_life_held[k] else k_cap[k] - k_spent[k] - k_held[k] end;
      room := least(room, greatest(left_, 0));
    end if;
    outcomes[i] := coalesce(refused::text, 'done'); amounts[i] := amount_; shortfalls[i] := lacking; availables[i] := room;
    if posts then
      any_moved := any_moved or moved <> 0 or short <> 0;
      movements := movements || row(
        i, nextval('ledger.journal_seq'), k_id[k], case when k is not null then coalesce(h_no[h], k_no[k]) end, refused,
        moved, held, short, a_posted[a], a_held[a])::movement;
    end if;
  end loop;

  -- 4. Write. By the place of the row, which nobody can move while we hold its lock. A join by id would be planned for tables as small
  -- as they were when the plan was made, and may read them whole.
  update account t set posted_micro = a_posted[i], held_micro = a_held[i]
  from generate_series(1, cardinality(a_row)) i where t.ctid = a_row[i];
  get diagnostics written = row_count;
  if written <> cardinality(p_accounts) then
    raise exception 'wrote % of % accounts', written, cardinality(p_accounts) using errcode = 'serialization_failure';
  end if;
  if k_id is not null then
    update key_cap t set cap_micro = k_cap[i], cap_window = k_window[i], window_no = k_no[i], resets_at = k_resets[i],
      spent_micro = k_spent[i], held_micro = k_held[i], life_spent_micro = k_life_spent[i], life_held_micro = k_life_held[i],
      closed = k_closed[i]
    from generate_series(1, cardinality(k_row)) i where t.ctid = k_row[i];
    get diagnostics written = row_count;
    if written <> cardinality(k_id) then
      raise exception 'wrote % of % keys', written, cardinality(k_id) using errcode = 'serialization_failure';
    end if;
  end if;

  -- What a batch of few operations does not need is skipped: each statement costs some microseconds to begin.
  if any_opened then
    insert into open_hold (id, account, key, window_no, granted_micro, cost_micro, expires_at)
    select p_holds[i], h_account[i], h_key[i], h_no[i], h_granted[i], h_cost[i], h_expires[i]
    from generate_series(1, cardinality(p_holds)) i
    where h_was[i] is null and h_state[i] = 'open';
  end if;
  if any_closed then
    delete from open_hold where id = any (array(
      select p_holds[i] from generate_series(1, cardinality(p_holds)) i where h_was[i] = 'open' and h_state[i] <> 'open'));
  end if;
  if true = any (h_extended) then
    for i in 1 .. cardinality(p_holds) loop
      if h_extended[i] and h_was[i] = 'open' and h_state[i] = 'open' then
        update open_hold set expires_at = h_expires[i], cost_micro = h_cost[i] where id = p_holds[i];
      end if;
    end loop;
  end if;
  if 'expired' = any (h_was) or 'expired' = any (h_state) then
    delete from expired_hold where id = any (array(
      select p_holds[i] from generate_series(1, cardinality(p_holds)) i where h_was[i] = 'expired' and h_state[i] = 'closed'));
    insert into expired_hold (id, account, key, window_no, charged_micro, shortfall_micro, at)
    select p_holds[i], h_account[i], h_key[i], h_no[i], h_charged[i], h_short[i], now_
    from generate_series(1, cardinality(p_holds)) i
    where h_state[i] = 'expired' and h_was[i] is distinct from 'expired';
  end if;

  insert into op (id, content, kind, refusal, amount_micro, shortfall_micro, available_micro, at)
  select p_id[op], p_content[op], p_kind[op], m.refusal, amounts[op], shortfalls[op], availables[op], now_
  from unnest(movements) m;
  insert into journal (seq, at, op_id, kind, account, key, window_no, hold, refusal, amount_micro, hold_micro, shortfall_micro, posted_micro, held_micro, content, detail)
  select seq, now_, p_id[op], p_kind[op], p_accounts[p_account[op]], key, window_no, p_holds[p_hold[op]], m.refusal,
         amount_micro, hold_micro, shortfall_micro, posted_micro, held_micro, p_content[op], p_detail[op]::json
  from unnest(movements) m;
  if any_moved then
    insert into posting (seq, at, account, amount_micro)
    select seq, now_, case side when 1 then p_accounts[p_account[op]] when 2 then p_contra[op] else 'system:shortfall' end, moved
    from unnest(movements) m, generate_series(1, 3) side,
      lateral (select case side when 1 then amount_micro when 2 then shortfall_micro - amount_micro else -shortfall_micro end as moved) entry
    where moved <> 0;
  end if;
  if e_hold is not null then
    perform refuse_early(u.hold, u.account, now_) from unnest(e_hold, e_account) u (hold, account);
  end if;
end $$;

revoke all on function next_reset, refuse_early, open_accounts, apply from public;
grant execute on function next_reset, open_accounts, apply to ledger;
