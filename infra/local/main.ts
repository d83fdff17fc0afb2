/** `npm start`: the whole gateway on one machine, supervised. */
import { parseArgs } from './args.ts'
import { onEndRequest } from './end-request.ts'
import { folderOf } from './folder.ts'
import { createOutput, seconds } from './output.ts'
import { startStack } from './stack.ts'
import { welcome } from './welcome.ts'

const DEFAULT_PORT = 8080

const started = performance.now()
const output = createOutput()
try {
  await main()
} catch (error) {
  report(error)
  process.exit(1)
}

async function main(): Promise<void> {
  const args = parseArgs(process.argv.slice(2), process.env)
  const folder = folderOf(process.env.LOCAL_DIR || '.local')
  const routerPort = readPort(process.env.PORT)
  const stack = await startStack({ ...args, folder, routerPort, env: process.env, output })

  let ending = false
  const end = async (code: number) => {
    ending = true
    await stack.stop()
    process.exit(code)
  }
  onEndRequest(process.env.SUPERVISED === '1', {
    first(reason) {
      output.line(`${reason}: stopping ...`)
      void end(0)
    },
    again() {
      stack.kill()
      process.exit(1)
    },
  })

  try {
    output.line(welcome(await stack.ready, folder, seconds(started)))
  } catch (error) {
    if (ending) return
    report(error)
    await end(1)
  }
}

function readPort(text: string | undefined): number {
  const port = Number(text || DEFAULT_PORT)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`PORT: "${text}" is no port`)
  return port
}

function report(error: unknown): void {
  output.line(error instanceof Error ? error.message : String(error))
}
