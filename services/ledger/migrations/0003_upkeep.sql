-- Partitions of this month and the months ahead, by UTC month. Attached rather than created in place, which would lock out
-- every batch. Safe to call from several ledgers at once. Answers how many were made.
create function ensure_partitions(p_ahead int) returns int
language plpgsql volatile security definer set search_path = ledger, pg_temp as $$
declare
  parent text; part text; starts timestamp; made int := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('ledger.ensure_partitions', 0));
  for month in 0 .. p_ahead loop
    starts := date_trunc('month', now() at time zone 'UTC') + month * interval '1 month';
    foreach parent in array array['journal', 'posting'] loop
      part := parent || to_char(starts, '_YYYY_MM');
      continue when to_regclass('ledger.' || part) is not null;
      execute format('create table %I (like %I including defaults including constraints)', part, parent);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part,
        starts at time zone 'UTC', (starts + interval '1 month') at time zone 'UTC');
      made := made + 1;
    end loop;
  end loop;
  return made;
end $$;

-- Drops the journal's months that ended before p_before; what they add up to is carried, so that every sum stays whole.
-- Refuses while one of them holds entries that were not relayed. For the owner's role: the service's may not delete.
create function retire_journal(p_before timestamptz) returns int
language plpgsql volatile set search_path = ledger, pg_temp as $$
declare
  part record; month text; dropped int := 0; unrelayed bigint;
begin
  for part in
    select relid::regclass::text as name, to_timestamp(right(relid::regclass::text, 7) || ' UTC', 'YYYY_MM TZ') as starts
    from pg_partition_tree('journal') where isleaf order by 1
  loop
    continue when part.starts + interval '1 month' > p_before;
    month := to_char(part.starts at time zone 'UTC', 'YYYY_MM');
    execute format('select count(*) from %I where seq > (select progress from duty where name = ''relay'')', 'journal_' || month) into unrelayed;
    if unrelayed > 0 then
      raise exception '% entries of % were not relayed yet', unrelayed, month;
    end if;
    execute format(
      'insert into carried_account as c (account, posted_micro) select account, sum(amount_micro) from %I group by account
       on conflict (account) do update set posted_micro = c.posted_micro + excluded.posted_micro', 'posting_' || month);
    execute format(
      'insert into carried_key as c (key, window_no, spent_micro)
       select key, numbers.no, -sum(j.amount_micro) from %I j, lateral (values (j.window_no), (0)) numbers (no)
       where j.kind in (''settle'', ''expire'') and j.key is not null group by 1, 2
       on conflict (key, window_no) do update set spent_micro = c.spent_micro + excluded.spent_micro', 'journal_' || month);
    execute format('drop table %I, %I', 'journal_' || month, 'posting_' || month);
    update horizon set journal_from = part.starts + interval '1 month';
    dropped := dropped + 1;
  end loop;
  delete from carried_key c using key_cap k where k.id = c.key and c.window_no <> 0 and c.window_no <> k.window_no;
  return dropped;
end $$;

-- Forgets up to p_limit operations from before p_before, which nobody will repeat any more; those that brought money in,
-- never. Answers how many: call again until 0.
create function retire_ops(p_before timestamptz, p_limit int) returns int
language plpgsql volatile set search_path = ledger, pg_temp as $$
declare
  gone int;
begin
  update horizon set op_from = greatest(op_from, p_before);
  delete from op where ctid = any (array(
    select ctid from op where at < p_before and kind not in ('credit', 'adjust') limit p_limit));
  get diagnostics gone = row_count;
  delete from expired_hold where at < p_before;
  return gone;
end $$;

revoke all on function ensure_partitions, retire_journal, retire_ops from public;
grant execute on function ensure_partitions to ledger;
select ensure_partitions(2);
