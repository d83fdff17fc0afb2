import { existsSync, readdirSync, readFileSync } from 'node:fs'

interface Process {
  pid: number
  parent: number
  command: string
}

/** Small systems (slim container images) have no `ps`; macOS has no `/proc`. */
const hasProc = existsSync('/proc/self/stat')

/** The command line of a running process, or undefined when there is none: a pid from a file may be another program's by now. */
export function commandOf(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return (hasProc ? fromProc(pid) : fromPs(['-p', String(pid)])[0])?.command
}

/** Every process below this one. */
export function descendantsOf(pid: number): number[] {
  const all = hasProc
    ? readdirSync('/proc')
        .filter(isNumber)
        .flatMap(name => fromProc(Number(name)) ?? [])
    : fromPs(['-A'])
  const below = (parent: number): number[] =>
    all.filter(process => process.parent === parent).flatMap(child => [child.pid, ...below(child.pid)])
  return below(pid)
}

/** A zombie counts as ended; only its parent has not asked yet. */
function fromProc(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it may itself hold spaces and brackets.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z') return undefined
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid, parent: Number(parent), command }
  } catch {
    return undefined
  }
}

function fromPs(selection: string[]): Process[] {
  const { stdout } = Bun.spawnSync(['ps', ...selection, '-o', 'pid=,ppid=,stat=,command='])
  return stdout
    .toString()
    .split('\n')
    .flatMap(line => {
      const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
      return command === undefined || state?.startsWith('Z')
        ? []
        : [{ pid: Number(pid), parent: Number(parent), command }]
    })
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name)
}
