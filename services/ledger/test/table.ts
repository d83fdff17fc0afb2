import { expect } from 'bun:test'
import type { AccountId, KeyId, ledger } from '@tollgate/contracts'
import type { Operation, Outcome } from '../operation.ts'
import { chargeDetail, creditDetail } from './details.ts'
import type { Rig } from './rig.ts'

/**
 * Runs a table, a line at a time, and holds what the ledger answers against what stands behind the arrow:
 *
 *     credit  alice  100  sig:1          → posted
 *     hold    alice  20..60  req:1  key  → held 50
 *     later   2s
 *
 * Names are this table's own, so tables share a database. `later` moves what is stored into the past.
 */
export async function table(rig: Rig, text: string): Promise<void> {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const play = player(rig, crypto.randomUUID().replaceAll('-', ''))
  const played: string[] = []
  for (const line of lines) {
    const [asked = ''] = line.split('→')
    const said = await play(asked.trim().split(/\s+/))
    played.push(said === '' ? line : `${asked}→ ${said}`)
  }
  expect(played.join('\n')).toBe(lines.join('\n'))
}

const TTL_MS = 60_000
function player({ batcher, store, admin }: Rig, scope: string) {
  const accountOf = (name: string): AccountId => `acct_${scope}${name}`
  const keyOf = (name: string): KeyId => `key_${scope}${name}`
  const holdOf = (request: string) => `hold:${scope}:${request}`
  /** Whose hold it is, since a line about a request does not say. */
  const owners = new Map<string, AccountId>()
  const first = new Map<string, Outcome>()

  async function ask(operation: Operation, done: (outcome: Outcome) => string): Promise<string> {
    const outcome = await batcher.submit(operation)
    const before = 'id' in operation ? first.get(operation.id) : undefined
    if ('id' in operation && outcome.outcome !== 'skipped' && !before) first.set(operation.id, outcome)
    const said =
      outcome.outcome === 'done'
        ? done(outcome)
        : outcome.outcome === 'skipped'
          ? 'skipped'
          : `refused: ${outcome.outcome}`
    return before && Bun.deepEquals(before, outcome) ? `${said} (the same answer)` : said
  }

  /** The account of a request's hold; `by` names another one on purpose. */
  const ownerOf = (request: string, by?: string): AccountId => {
    const owner = by ? accountOf(by) : owners.get(request)
    if (!owner) throw new Error(`no hold line for ${request}: say "by <account>"`)
    return owner
  }

  const verbs: Record<string, (...words: string[]) => Promise<string>> = {
    credit: (account = '', amount = '', id = '') =>
      ask(
        {
          kind: 'credit',
          id: `credit:${scope}:${id}`,
          account: accountOf(account),
          amountMicro: BigInt(amount),
          detail: creditDetail,
        },
        () => 'posted',
      ),
    adjust: (account = '', amount = '', id = '') =>
      ask(
        {
          kind: 'adjust',
          id: `adjust:${scope}:${id}`,
          account: accountOf(account),
          amountMicro: BigInt(amount),
          reason: 'table',
        },
        () => 'posted',
      ),
    hold: (account = '', amount = '', request = '', key = '') => {
      owners.set(request, owners.get(request) ?? accountOf(account))
      const [least = '', most = least] = amount.split('..')
      return ask(
        {
          kind: 'hold',
          id: holdOf(request),
          account: accountOf(account),
          key: key === '' ? null : keyOf(key),
          minMicro: BigInt(least),
          maxMicro: BigInt(most),
          ttlMs: TTL_MS,
        },
        ({ amountMicro }) => (least === most ? 'held' : `held ${amountMicro}`),
      )
    },
    extend: (request = '', cost = '', seconds = '60s') =>
      ask(
        {
          kind: 'extend',
          hold: holdOf(request),
          account: ownerOf(request),
          costMicro: BigInt(cost),
          ttlMs: Number.parseInt(seconds, 10) * 1_000,
        },
        () => 'extended',
      ),
    settle: async (request = '', cost = '', id = request, by?: string) => {
      const account = ownerOf(request, by)
      const { heldMicro } = await store.balance(account)
      const operation: Operation = {
        kind: 'settle',
        id: `settle:${scope}:${id === 'by' ? request : id}`,
        hold: holdOf(request),
        account,
        costMicro: BigInt(cost),
        detail: chargeDetail,
      }
      const said = await ask(operation, ({ shortfallMicro }) =>
        shortfallMicro > 0n ? `posted, ${shortfallMicro} short` : 'posted',
      )
      const fell = heldMicro - (await store.balance(account)).heldMicro
      const charged = first.get(operation.id)?.amountMicro ?? 0n
      return said === 'posted' && fell > 0n ? `posted, ${fell > charged ? fell - charged : 0n} freed` : said
    },
    release: (request = '', _by = '', account?: string) => {
      const owner = ownerOf(request, account)
      owners.set(request, owner)
      return ask(
        { kind: 'release', id: `release:${scope}:${request}`, hold: holdOf(request), account: owner },
        ({ amountMicro }) => `posted, ${amountMicro} freed`,
      )
    },
    expire: (request = '') =>
      ask(
        { kind: 'expire', id: `expire:${holdOf(request)}`, hold: holdOf(request), account: ownerOf(request) },
        ({ amountMicro, shortfallMicro }) =>
          `posted, ${amountMicro} charged${shortfallMicro > 0n ? `, ${shortfallMicro} short` : ''}`,
      ),
    cap: (account = '', key = '', amount = '', window = '', id = '') =>
      ask(
        {
          kind: 'set_cap',
          id: `set_cap:${scope}:${id || `${key}${amount}${window}`}`,
          account: accountOf(account),
          key: keyOf(key),
          capMicro: amount === 'none' ? null : BigInt(amount),
          // Any word is let through: Postgres refuses what is not a window.
          window: (window || 'none') as ledger.CapWindow,
        },
        () => 'set',
      ),
    close: (account = '', key = '') =>
      ask(
        { kind: 'close_key', id: `close_key:${scope}:${key}`, account: accountOf(account), key: keyOf(key) },
        () => 'closed',
      ),
    balance: async (account = '') => {
      const { postedMicro, heldMicro } = await store.balance(accountOf(account))
      return `posted ${postedMicro}, held ${heldMicro}`
    },
    spend: async (account = '', key = '') => {
      const [spend] = await store.keySpend(accountOf(account), [keyOf(key)])
      return `spent ${spend?.spentMicro}, held ${spend?.heldMicro}`
    },
    shortfall: async (account = '') => {
      const [sum] = await admin(`select sum(-amount_micro)::text as total from posting
        where account = 'system:shortfall' and seq in (select seq from journal where account = '${accountOf(account)}')`)
      return String(sum?.total)
    },
    later: async (...time) => {
      const interval = `interval '${time.join(' ')}'`
      await admin(`update open_hold set expires_at = expires_at - ${interval} where account like 'acct_${scope}%'`)
      await admin(`update key_cap set resets_at = resets_at - ${interval} where account like 'acct_${scope}%'`)
      return ''
    },
  }

  return ([verb = '', ...words]: string[]): Promise<string> => {
    const act = verbs[verb]
    if (!act) throw new Error(`no such verb: ${verb}`)
    return act(...words)
  }
}
