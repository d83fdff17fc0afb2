import { contraOf, holdOf, type Operation, type Prepared } from './operation.ts'

/**
 * A batch as the parameters of `ledger.apply`, in their order: one array per field, as Postgres array text. Text, since
 * the driver guesses array types wrongly when a statement is not described first.
 */
export function packed(batch: readonly Prepared[]): string[] {
  const operations = batch.map(({ operation }) => operation)
  const accounts = distinctSorted(operations.map(({ account }) => account))
  const holdIds = operations.map(holdOf)
  const holds = distinctSorted(holdIds)
  const asked = new Set(operations.filter(({ kind }) => kind === 'hold').map(holdOf))
  const place = placesIn(accounts)
  const holdPlace = placesIn(holds)
  return [
    texts(accounts),
    texts(holds),
    plain(holds.map(hold => asked.has(hold))),
    texts(batch.map(({ id }) => id)),
    plain(operations.map(({ kind }) => kind)),
    plain(batch.map(({ content }) => content)),
    plain(operations.map(({ account }) => place(account))),
    plain(holdIds.map(holdPlace)),
    texts(operations.map(operation => ('key' in operation ? operation.key : null))),
    plain(operations.map(amountOf)),
    plain(operations.map(operation => ('minMicro' in operation ? operation.minMicro : null))),
    plain(operations.map(operation => ('ttlMs' in operation ? operation.ttlMs : null))),
    plain(operations.map(operation => ('window' in operation ? operation.window : null))),
    texts(operations.map(contraOf)),
    texts(batch.map(({ detail }) => detail)),
  ]
}

/** The accounts and the keys that a batch names, as the parameters of `ledger.open_accounts`. */
export function named(batch: readonly Prepared[]): string[] {
  const operations = batch.map(({ operation }) => operation)
  const accounts = texts(operations.map(({ account }) => account))
  return [accounts, texts(operations.map(operation => ('key' in operation ? operation.key : null))), accounts]
}

function amountOf(operation: Operation): bigint | null {
  if ('maxMicro' in operation) return operation.maxMicro
  if ('costMicro' in operation) return operation.costMicro
  if ('amountMicro' in operation) return operation.amountMicro
  return 'capMicro' in operation ? operation.capMicro : null
}

/** By UTF-16 code unit, which for our ASCII ids is the byte order of collation "C": every ledger locks in this order. */
function distinctSorted(values: readonly (string | null)[]): string[] {
  return [...new Set(values.filter(value => value !== null))].sort()
}

/** Postgres counts from 1. */
function placesIn(sorted: readonly string[]): (value: string | null) => number | null {
  const places = new Map(sorted.map((value, index) => [value, index + 1]))
  return value => (value === null ? null : (places.get(value) ?? null))
}

/** Numbers and words that need no quotes. */
function plain(values: readonly (string | number | bigint | boolean | null)[]): string {
  return `{${values.map(value => value ?? 'NULL').join(',')}}`
}

function texts(values: readonly (string | null)[]): string {
  return `{${values.map(value => (value === null ? 'NULL' : quoted(value))).join(',')}}`
}

function quoted(value: string): string {
  return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
}
