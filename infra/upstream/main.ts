import { startUpstream } from './server.ts'

/** The simulated provider as a process: `PORT`, `SIM_FIRST_MS`, `SIM_INTERVAL_MS`, `SIM_TOKENS`, `SUPERVISED`. */
const { PORT, SIM_FIRST_MS, SIM_INTERVAL_MS, SIM_TOKENS, SUPERVISED } = process.env

const upstream = startUpstream({
  port: Number(PORT ?? 0),
  ...(SIM_FIRST_MS && { firstMs: Number(SIM_FIRST_MS) }),
  ...(SIM_INTERVAL_MS && { intervalMs: Number(SIM_INTERVAL_MS) }),
  ...(SIM_TOKENS && { tokens: Number(SIM_TOKENS) }),
})

const end = () => process.exit(0)
process.on('SIGTERM', end).on('SIGINT', end)
// The supervisor holds the other end of standard input; it closes when the supervisor dies.
if (SUPERVISED === '1') process.stdin.on('end', end).on('close', end).on('error', end).resume()
console.log(JSON.stringify({ service: 'upstream', msg: 'listening', url: upstream.url }))
