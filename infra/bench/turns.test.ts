import { expect, test } from 'bun:test'

/** In proc_pid_stat(5): field 41, counted after the name, which may hold spaces. */
const POLICY = 41 - 3
const BATCH = 3

test.skipIf(process.platform !== 'linux' || !Bun.which('chrt'))(
  'what a process starts takes turns as it does',
  async () => {
    const program = `
    const { takeTurns } = await import('${import.meta.dir}/turns.ts')
    takeTurns()
    console.log((await Bun.file('/proc/self/stat').text()).trim())
    console.log(await new Response(Bun.spawn(['cat', '/proc/self/stat']).stdout).text())`
    const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
    const lines = (await new Response(child.stdout).text()).trim().split('\n')
    const policies = lines.map(line => Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[POLICY]))
    expect(policies).toEqual([BATCH, BATCH])
  },
)
