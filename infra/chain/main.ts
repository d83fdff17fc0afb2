import { readConfig } from './config.ts'
import { startChain } from './start.ts'

const config = readConfig(process.env)
const chain = startChain(config)
const { rpc, ws, genesisHash, mint, treasury } = chain
console.log(JSON.stringify({ service: 'chain', msg: 'listening', rpc, ws, genesisHash, mint, treasury }))

function shutDown(): void {
  chain.stop()
  process.exit(0)
}

process.on('SIGTERM', shutDown)
process.on('SIGINT', shutDown)
if (config.supervised) {
  // A closed pipe means that the supervisor died, even where it could not say so.
  process.stdin.on('end', shutDown).on('close', shutDown).on('error', shutDown).resume()
}
