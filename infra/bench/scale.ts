/** `bun run bench:scale`: what more replicas give, and what more accounts and a longer journal cost, on this machine. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { asMarkdown, asText } from './report/table.ts'
import { measureGrowth } from './scale/growth.ts'
import { measureReplicas } from './scale/replicas.ts'
import { placeIn, startSimulatedUpstream } from './targets/peers.ts'
import { takeTurns } from './turns.ts'

takeTurns()
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
    only: { type: 'string', default: 'replicas,growth' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
})
const settings = values.quick
  ? {
      seconds: 1,
      rounds: 1,
      sizes: [
        { accounts: 100, journalRows: 10_000 },
        { accounts: 1_000, journalRows: 100_000 },
      ],
    }
  : {
      seconds: Number(values.seconds),
      rounds: Number(values.rounds),
      sizes: [
        { accounts: 100, journalRows: 100_000 },
        { accounts: 10_000, journalRows: 1_000_000 },
        { accounts: 1_000_000, journalRows: 10_000_000 },
      ],
    }

const folder = mkdtempSync(join(tmpdir(), 'tollgate-scale-'))
const upstream = await startSimulatedUpstream(placeIn(folder))
const say = (line: string) => console.error(line)
try {
  const options = { upstream, folder, say, ...settings }
  const results = [
    ...(values.only.includes('replicas') ? [await measureReplicas(options)] : []),
    ...(values.only.includes('growth') ? [await measureGrowth(options)] : []),
  ]
  const shape = values.markdown ? asMarkdown : asText
  if (values.json) console.log(JSON.stringify(results, null, 2))
  else console.log(results.map(({ table }) => shape(table)).join('\n\n'))
  process.exitCode = results.every(({ isClean }) => isClean) ? 0 : 1
} finally {
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
}
