import type { Group } from './groups.ts'
import { root } from './tools.ts'

export interface Outcome {
  passed: number
  failed: number
}

/** A run that hangs is a failure, not a wait. */
const GROUP_TIMEOUT_MS = 10 * 60_000
/** More failed files than this are no bad luck. */
const SECOND_CHANCES = 3
/** Bun's five seconds are short for a busy machine of two cores. Tests that need longer say so themselves. */
const TEST_TIMEOUT_MS = 20_000

/** The checks count as one test. */
export async function runCheck(env: Record<string, string>): Promise<Outcome> {
  const { code } = await run([process.execPath, 'infra/check/index.ts'], env)
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

/**
 * Runs a group. Files that failed run once more, alone, when they are few: many tests kill processes and wait by the clock, and
 * a busy machine can break one. A file that fails alone too has failed; one that does not is named as unsteady.
 */
export async function runGroup({ name, files, workers }: Group, env: Record<string, string>): Promise<Outcome> {
  console.log(`\n${name}: ${files.length} files`)
  const first = await runFiles(files, workers, env)
  const failed = failedFiles(first.output)
  if (failed.length === 0 || failed.length > SECOND_CHANCES) return first.outcome
  console.log(`\nonce more, alone: ${failed.join(', ')}`)
  const second = await runFiles(failed, 1, env)
  for (const file of failed) if (!failedFiles(second.output).includes(file)) console.log(`unsteady: ${file}`)
  return afterSecondChance(first.outcome, second.outcome)
}

async function runFiles(files: readonly string[], workers: number, env: Record<string, string>) {
  const paths = files.map(file => `./${file}`)
  const mode = workers > 1 ? `--parallel=${workers}` : '--isolate'
  const { code, output } = await run([process.execPath, 'test', `--timeout=${TEST_TIMEOUT_MS}`, mode, ...paths], env)
  return { output, outcome: countOutcome(output, code) }
}

/** What failed at first counts as the second run says. */
export function afterSecondChance(first: Outcome, second: Outcome): Outcome {
  const all = first.passed + first.failed
  return { passed: Math.max(0, all - second.failed), failed: second.failed }
}

/** The files that `bun test` says a failure of, by the names that it prints above their tests. */
export function failedFiles(output: string): string[] {
  const failed = new Set<string>()
  let file: string | undefined
  for (const line of output.split('\n')) {
    // The failures are told again at the end, without their files.
    if (/^\d+ tests? failed:$/.test(line)) break
    file = /^(\S+\.test\.ts):$/.exec(line)?.[1] ?? file
    if (file && /^\(fail\) |^# Unhandled error/.test(line)) failed.add(file)
  }
  return [...failed]
}

/**
 * Counts from what `bun test` printed last. A run that ended badly without saying what failed (it crashed, or a file could
 * not be read) has failed once.
 */
export function countOutcome(output: string, code: number): Outcome {
  const last = (word: string) => Number([...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0)
  const failed = last('fail')
  return { passed: last('pass'), failed: code !== 0 && failed === 0 ? 1 : failed }
}

/** Shows the output as it comes, and keeps it. */
async function run(command: string[], env: Record<string, string>): Promise<{ code: number; output: string }> {
  const child = Bun.spawn(command, {
    cwd: root,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: GROUP_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  let output = ''
  const show = async (stream: ReadableStream<Uint8Array>, to: NodeJS.WriteStream) => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      to.write(bytes)
      output += decoder.decode(bytes, { stream: true })
    }
  }
  await Promise.all([show(child.stdout, process.stdout), show(child.stderr, process.stderr)])
  return { code: await child.exited, output }
}
