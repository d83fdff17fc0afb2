/** Some mirrors are slow; none is waited for without end. */
const COMMAND_TIMEOUT_MS = 180_000

/** Runs a program to its end; throws what it said when it fails. */
export async function command(line: string[], cwd: string): Promise<void> {
  const child = Bun.spawn(line, {
    cwd,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: COMMAND_TIMEOUT_MS,
    env: { ...process.env, LC_ALL: 'C' },
  })
  const problems = await child.stderr.text()
  if ((await child.exited) !== 0) throw new Error(`${line[0]} failed: ${problems.trim() || 'no reason given'}`)
}
