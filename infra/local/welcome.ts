import { relative } from 'node:path'
import type { Folder } from './folder.ts'
import type { GatewayJson } from './gateway-json.ts'

/** What a newcomer can paste. */
export function welcome({ router, upstream }: GatewayJson, folder: Folder, took: string): string {
  const inside = relative(process.cwd(), folder.path)
  const place = inside.startsWith('..') ? folder.path : inside
  const localDir = place === '.local' ? '' : `LOCAL_DIR=${place} `
  return `
Tollgate is ready (${took}): ${router}

  curl ${router}/v1/models

${upstream ? simulated(router, localDir) : ''}
Everything about this stack is in ${place}/gateway.json, its logs are in ${place}/logs. Ctrl-C stops it.`
}

function simulated(router: string, localDir: string): string {
  return `  # a wallet signs in, pays 10 USD on the local chain and makes a key:
  export OPENAI_API_KEY=$(${localDir}npm run --silent key)
  export OPENAI_BASE_URL=${router}/v1

  curl $OPENAI_BASE_URL/chat/completions -H "authorization: Bearer $OPENAI_API_KEY" \\
    -H "content-type: application/json" \\
    -d '{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hello"}]}'
`
}
