import { ledger, type RequestOf } from '@tollgate/contracts'

/** What a batch is made of, by kind: the money questions of the contract, and the sweeper's own. */
interface Requests {
  hold: RequestOf<typeof ledger.hold>
  extend: RequestOf<typeof ledger.extend>
  settle: RequestOf<typeof ledger.settle>
  release: RequestOf<typeof ledger.release>
  credit: RequestOf<typeof ledger.credit>
  adjust: RequestOf<typeof ledger.adjust>
  set_cap: RequestOf<typeof ledger.setCap>
  close_key: RequestOf<typeof ledger.closeKey>
  /** Of a hold whose time is over; not asked by anybody outside. */
  expire: { id: string; hold: string; account: RequestOf<typeof ledger.hold>['account'] }
}

export type Kind = keyof Requests
export type Operation<K extends Kind = Kind> = { [P in K]: { kind: P } & Requests[P] }[K]

/** What the ledger says of an operation. `skipped`: an expiry that was not due. */
export interface Outcome {
  outcome: 'done' | 'skipped' | ledger.LedgerRefusal
  /** What was granted, charged or freed. */
  amountMicro: bigint
  /** What a charge could not cover. */
  shortfallMicro: bigint
  availableMicro: bigint
}

/** The expiry of a hold: its id follows from the hold's, so that however many ledgers sweep, it happens once. */
export function expiryOf(hold: string, account: Operation<'expire'>['account']): Operation<'expire'> {
  return { kind: 'expire', id: `expire:${hold}`, hold, account }
}

/** The hold that the operation makes or is about. */
export function holdOf(operation: Operation): string | null {
  if (operation.kind === 'hold') return operation.id
  return 'hold' in operation ? operation.hold : null
}

/** The system account on the other side of what the operation moves. */
export function contraOf(operation: Operation): string | null {
  switch (operation.kind) {
    case 'settle':
    case 'expire':
      return 'system:provider_cost'
    case 'credit': {
      const { network, mint, treasury } = operation.detail
      return `treasury:${network}:${mint}:${treasury}`
    }
    case 'adjust':
      return operation.id.startsWith('grant:') ? 'system:grants' : 'system:adjustments'
    default:
      return null
  }
}

/** An operation, and what is derived from it once: it may wait, be repeated and be halved out of a batch. */
export interface Prepared {
  operation: Operation
  /** Null for an extension, which may be repeated without harm. */
  id: string | null
  /** The same for the same question: a hash in the shape of a UUID, which Postgres keeps in 16 bytes. */
  content: string | null
  /** What the journal keeps of the operation beside its columns, as JSON. */
  detail: string
}

const CONTENT_HEX_DIGITS = 32

export function prepare(operation: Operation): Prepared {
  const id = operation.kind === 'extend' ? null : operation.id
  const detail = detailOf(operation)
  const hashed = operation.kind !== 'extend' && operation.kind !== 'expire'
  const content = hashed ? Bun.CryptoHasher.hash('sha256', contentOf(operation, detail), 'hex') : null
  return { operation, id, content: content?.slice(0, CONTENT_HEX_DIGITS) ?? null, detail }
}

function detailOf(operation: Operation): string {
  switch (operation.kind) {
    case 'settle':
      return chargeText(operation.detail)
    case 'credit':
      return creditText(operation.detail)
    case 'adjust':
      return `{"v":1,"reason":${JSON.stringify(operation.reason)}}`
    case 'hold':
      return `{"v":1,"minMicro":${operation.minMicro},"maxMicro":${operation.maxMicro},"ttlMs":${operation.ttlMs}}`
    case 'set_cap':
      return `{"v":1,"capMicro":${operation.capMicro},"window":"${operation.window}"}`
    default:
      return '{"v":1}'
  }
}

/** Everything that makes it this question and no other. A hold's bounds and an adjustment's reason are in its detail. */
function contentOf(operation: Operation, detail: string): string {
  const parts: unknown[] = [operation.kind, operation.account, holdOf(operation), detail]
  if ('key' in operation) parts.push(operation.key)
  if ('costMicro' in operation) parts.push(operation.costMicro)
  if ('amountMicro' in operation) parts.push(operation.amountMicro)
  return parts.join('\n')
}

const chargeText = writer(ledger.ChargeDetail)
const creditText = writer(ledger.credit.request.properties.detail)

/**
 * Writes a flat object as JSON in the order of its schema, so that the order in which a caller wrote it says nothing.
 * bigints become integers, and what the schema does not know is left out.
 */
function writer(schema: { properties: Record<string, unknown> }): (value: object) => string {
  const names = Object.keys(schema.properties)
  return value => {
    // Read by the names of its own schema.
    const fields = value as Record<string, unknown>
    const written: string[] = []
    for (const name of names) {
      const field = fields[name]
      if (field !== undefined) written.push(`"${name}":${typeof field === 'bigint' ? field : JSON.stringify(field)}`)
    }
    return `{${written.join(',')}}`
  }
}
