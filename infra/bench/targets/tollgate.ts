import type { TargetName } from '../plan.ts'
import { createCustomer } from './customers.ts'
import type { StartedUpstream } from './peers.ts'
import { seed } from './seed.ts'
import { catalogueModel, type Stack, startStack } from './stack.ts'
import type { Started, Target } from './target.ts'

export interface TollgateOptions {
  names: readonly TargetName[]
  /** Customers of `spread`. */
  accounts: number
  /** `metering-proxy=2,ledger=2` */
  scale?: string
  env?: Record<string, string>
}

export interface StartedTollgate extends Started {
  stack: Stack
}

/** Of each of many: a credit, and a hold with its settlement. */
const JOURNAL_ROWS = 3

/** Tollgate complete: one stack, asked by one customer (`tollgate`) and by many (`spread`). */
export async function startTollgate(upstream: StartedUpstream, options: TollgateOptions): Promise<StartedTollgate> {
  const { scale = '', env = {} } = options
  const stack = await startStack({ upstreamUrl: `${upstream.origin}/v1`, scale, env })
  try {
    const targets: Target[] = []
    for (const name of options.names) {
      targets.push({
        name,
        baseUrl: `${withAddress(stack.gateway.router)}/v1`,
        headers: {},
        credentials:
          name === 'spread' ? await createMany(stack, options.accounts) : [await createCustomer(stack.gateway)],
        modelFor: catalogueModel,
        roots: [stack.pid, upstream.pid],
        scrape: stack.scrape,
      })
    }
    return { targets, stack, stop: stack.stop }
  } catch (error) {
    await stack.stop()
    throw error
  }
}

/** Their keys. A thousand payments would take a minute: they are written into Postgres, whole and right (`audit` sees them too). */
function createMany({ gateway }: Stack, accounts: number): Promise<string[]> {
  const size = { accounts, journalRows: JOURNAL_ROWS * accounts }
  return seed({ postgresUrl: gateway.postgres, size, name: 'spread', keys: accounts })
}

/** Every target is asked at the same address: a name may resolve to several. */
function withAddress(url: string): string {
  return url.replace('//localhost:', '//127.0.0.1:')
}
