create table accounts (
  id text primary key,
  created_at timestamptz not null default now()
);

-- One account a user today; the ids differ so that an account can have several users later.
create table users (
  id text primary key,
  wallet text not null unique,
  account_id text not null unique references accounts,
  created_at timestamptz not null default now()
);

create table sessions (
  id text primary key,
  user_id text not null references users,
  -- SHA-256 of the token. The token itself is nowhere but in the cookie.
  secret_hash text not null unique,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ends_at timestamptz not null,
  ended_at timestamptz,
  check (expires_at <= ends_at)
);
create index sessions_of_user on sessions (user_id, last_used_at desc);

grant select, insert on accounts, users to auth;
grant select, insert, delete, update (last_used_at, expires_at, ended_at) on sessions to auth;
