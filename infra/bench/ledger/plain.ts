import { connectBus } from '@tollgate/bus'
import { ledger, type RequestOf } from '@tollgate/contracts'
import postgres, { type TransactionSql } from 'postgres'

/**
 * The ledger as it is usually written, to measure against: each operation is its own transaction that locks the account's
 * row, checks, writes and commits. Same subjects, same bus, same tables' worth of writes; no keys, no idempotency.
 */
const CONNECTIONS = 16

const env = (name: string) => process.env[name] ?? ''
const sql = postgres(env('DATABASE_URL'), { max: CONNECTIONS, types: { bigint: postgres.BigInt } })
const bus = await connectBus({ url: env('NATS_URL'), user: 'ledger', password: env('NATS_PASSWORD'), name: 'plain' })

async function hold(tx: TransactionSql<{ bigint: bigint }>, request: RequestOf<typeof ledger.hold>) {
  const { id, account, maxMicro } = request
  const [row] = await tx<{ available: bigint }[]>`
    select posted_micro - held_micro as available from plain.account where id = ${account} for update`
  const availableMicro = row?.available ?? 0n
  if (availableMicro < maxMicro)
    return { status: 'refused' as const, reason: 'insufficient_credits' as const, availableMicro }
  await tx`update plain.account set held_micro = held_micro + ${maxMicro} where id = ${account}`
  await tx`insert into plain.open_hold (id, account, granted_micro) values (${id}, ${account}, ${maxMicro})`
  await tx`insert into plain.journal (op_id, account, amount_micro, detail) values (${id}, ${account}, 0, '{}')`
  return { status: 'held' as const, grantedMicro: maxMicro, availableMicro: availableMicro - maxMicro }
}

async function settle(tx: TransactionSql<{ bigint: bigint }>, request: RequestOf<typeof ledger.settle>) {
  const { id, account, costMicro } = request
  await tx`select from plain.account where id = ${account} for update`
  const [held] = await tx<{ granted_micro: bigint }[]>`
    delete from plain.open_hold where id = ${request.hold} returning granted_micro`
  const [row] = await tx<{ available: bigint }[]>`
    update plain.account set posted_micro = posted_micro - ${costMicro}, held_micro = held_micro - ${held?.granted_micro ?? 0n}
    where id = ${account} returning posted_micro - held_micro as available`
  const detail = JSON.stringify(request.detail, (_, value) => (typeof value === 'bigint' ? Number(value) : value))
  await tx`insert into plain.journal (op_id, account, amount_micro, detail) values (${id}, ${account}, ${-costMicro}, ${detail})`
  return {
    status: 'settled' as const,
    chargedMicro: costMicro,
    shortfallMicro: 0n,
    availableMicro: row?.available ?? 0n,
  }
}

bus.serve(ledger.hold, requests => Promise.all(requests.map(request => sql.begin(tx => hold(tx, request)))))
bus.serve(ledger.settle, requests => Promise.all(requests.map(request => sql.begin(tx => settle(tx, request)))))
bus.serve(ledger.balance, () => ({ postedMicro: 0n, heldMicro: 0n, availableMicro: 0n }))
process.stdin.on('end', () => process.exit(0)).resume()
