/** `bun run check`: format and lint, types, unused code, and the rules of our own. Quick, and first in CI. */
import { brokenRules } from './rules.ts'

interface Verdict {
  name: string
  ok: boolean
  output: string
}

async function command(name: string, ...argv: string[]): Promise<Verdict> {
  const child = Bun.spawn(argv, { stdout: 'pipe', stderr: 'pipe', env: { ...process.env, FORCE_COLOR: '0' } })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { name, ok: code === 0, output: `${out}${err}`.trim() }
}

async function ownRules(): Promise<Verdict> {
  const broken = await brokenRules()
  return { name: 'import rules', ok: broken.length === 0, output: broken.join('\n') }
}

const bin = 'node_modules/.bin'
const verdicts = await Promise.all([
  command('biome', `${bin}/biome`, 'check', '--error-on-warnings', '.'),
  command('types', `${bin}/tsc`, '--noEmit', '-p', 'tsconfig.json'),
  command('unused code', process.execPath, `${bin}/knip`, '--no-progress', '--no-config-hints'),
  ownRules(),
])

for (const { name, ok, output } of verdicts) {
  console.log(`${ok ? '✓' : '✗'} ${name}`)
  if (!ok) console.log(output.replace(/^/gm, '    '))
}
process.exit(verdicts.every(verdict => verdict.ok) ? 0 : 1)
