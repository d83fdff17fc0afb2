import type { Database } from '@tollgate/db'
import { and, asc, eq, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import { intent, payment, paymentNote, settlement } from '../schema.ts'
import type { IntentRow, PaymentRow } from '../store.ts'

/** A payment with the intent that it names, if any, and what operators wrote about it. */
export interface Listed {
  payment: PaymentRow
  intent: IntentRow | null
  notes: { text: string; adjustment: string | null; at: Date }[]
}

/** What was done about a payment. */
export interface Resolution {
  text: string
  adjustment?: string
  amountMicro?: bigint
}

export type OperatorStore = ReturnType<typeof createOperatorStore>

const EXCEPTIONS = ['underpaid', 'late', 'multiple', 'unmatched', 'vanished'] as const
/** A payment in processing for so long waits for something that does not come, such as a block time. */
const STUCK = sql`now() - interval '10 minutes'`

/** What the operator's command reads and writes. */
export function createOperatorStore(database: Database) {
  async function load(signatures: readonly string[]): Promise<Listed[]> {
    if (signatures.length === 0) return []
    const [rows, notes] = await Promise.all([
      database.run(db =>
        db
          .select()
          .from(payment)
          .leftJoin(intent, eq(payment.intent, intent.id))
          .where(inArray(payment.signature, [...signatures]))
          .orderBy(asc(payment.receivedAt)),
      ),
      database.run(db =>
        db
          .select()
          .from(paymentNote)
          .where(inArray(paymentNote.signature, [...signatures]))
          .orderBy(asc(paymentNote.id)),
      ),
    ])
    return rows.map(row => ({ ...row, notes: notes.filter(({ signature }) => signature === row.payment.signature) }))
  }

  return {
    /** Payments that wait for an operator, oldest first; with `all`, those that were dealt with too. */
    async exceptions(all: boolean, limit: number): Promise<Listed[]> {
      const waiting = or(
        inArray(payment.state, EXCEPTIONS),
        and(eq(payment.state, 'processing'), lt(payment.receivedAt, STUCK)),
      )
      const rows = await database.run(db =>
        db
          .select({ signature: payment.signature })
          .from(payment)
          .where(and(waiting, all ? undefined : isNull(payment.resolvedAt)))
          .orderBy(asc(payment.receivedAt))
          .limit(limit),
      )
      return load(rows.map(({ signature }) => signature))
    },

    find: async (signature: string): Promise<Listed | null> => (await load([signature]))[0] ?? null,

    /** Takes the payment out of matching, for good. False when it was credited, or is being claimed just now. */
    async take(signature: string): Promise<boolean> {
      await database.run(db =>
        db
          .update(payment)
          .set({ resolvedAt: sql`coalesce(${payment.resolvedAt}, now())` })
          .where(eq(payment.signature, signature)),
      )
      // After the update: a claim locks the same row, so it is visible now, or finds the payment resolved.
      const [claim] = await database.run(db =>
        db
          .select({ intent: settlement.intent })
          .from(settlement)
          .where(sql`${signature} = any(${settlement.signatures})`),
      )
      if (!claim) return true
      await database.run(db => db.update(payment).set({ resolvedAt: null }).where(eq(payment.signature, signature)))
      return false
    },

    async note(signature: string, { text, adjustment, amountMicro }: Resolution): Promise<void> {
      await database.run(db =>
        db
          .insert(paymentNote)
          .values({ signature, text, adjustment: adjustment ?? null, amountMicro: amountMicro ?? null }),
      )
    },
  }
}
