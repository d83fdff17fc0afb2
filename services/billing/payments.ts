import { parseArgs } from 'node:util'
import { connectBus } from '@tollgate/bus'
import { openDatabase } from '@tollgate/db'
import { readOperatorConfig } from './operator/config.ts'
import { creditPayment, notePayment, OperatorError } from './operator/resolve.ts'
import { createOperatorStore } from './operator/store.ts'
import { paymentTable } from './operator/table.ts'

const USAGE = `bun run payments list [--all]
bun run payments credit <signature> --note <text> [--usd <amount>] [--account <acct_…>] [--force]
bun run payments note <signature> <text>

Payments that could not be credited by themselves. \`credit\` gives their worth at the quote's price (or --usd) as an
adjustment in the ledger, once; \`note\` takes one off the list without a credit, such as after a refund by hand.
What was noted so, is not final yet or has vanished is credited with --force only.
Runs against the local stack, or DATABASE_URL, NATS_URL and NATS_PASSWORD (of the NATS user "operator").`

const LIST_MAX = 200

async function run(argv: string[]): Promise<string> {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      note: { type: 'string' },
      usd: { type: 'string' },
      account: { type: 'string' },
      force: { type: 'boolean', default: false },
    },
  })
  const [command, signature, ...words] = positionals
  const config = readOperatorConfig()
  const database = openDatabase({ url: config.databaseUrl, connections: 1, applicationName: 'billing payments' })
  const store = createOperatorStore(database)
  try {
    if (command === 'list') return paymentTable(await store.exceptions(values.all, LIST_MAX))
    if (command === 'note' && signature && words.length > 0) return await notePayment(store, signature, words.join(' '))
    if (command !== 'credit' || !signature || !values.note) throw new OperatorError(USAGE)
    const bus = await connectBus({ ...config.nats, user: 'operator', name: 'billing payments' })
    const { note: text, usd = null, account = null, force } = values
    return await creditPayment(store, bus, { signature, text, usd, account, force }).finally(() => bus.close())
  } finally {
    await database.close()
  }
}

try {
  console.log(await run(process.argv.slice(2)))
} catch (fault) {
  const usage = fault instanceof TypeError ? `${fault.message}\n\n${USAGE}` : String(fault)
  console.error(fault instanceof OperatorError ? fault.message : usage)
  process.exitCode = 1
}
