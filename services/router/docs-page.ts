import type { OpenApi, Operation } from './openapi.ts'

/** The document as a page that needs no script and no other host. */
export function docsPage({ info, paths }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const links = operations.map(
    ({ path, method, operation }) =>
      `<li><a href="#${operation.operationId}"><b>${method}</b> ${escaped(path)}</a> ${escaped(operation.summary)}</li>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(info.title)} API</title>
<style>${style}</style>
<h1>${escaped(info.title)} API</h1>
<p>${escaped(info.description)} The same for machines: <a href="/openapi.json">openapi.json</a>.</p>
<p>Send <code>Authorization: Bearer svc_live_…</code>, or the session cookie from a browser app of a listed origin. Every error
is <code>{"error":{"message","code"}}</code>.</p>
<ul>${links.join('\n')}</ul>
${operations.map(section).join('\n')}
</html>
`
}

function section({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const body = operation.requestBody?.content['application/json']?.schema
  return `<section id="${operation.operationId}">
<h2><b>${method}</b> ${escaped(path)}</h2>
<p>${escaped(operation.summary)}. ${escaped(credentialOf(operation))}</p>
${body ? `<h3>Body</h3>${schemaBlock(body)}` : ''}
${Object.entries(operation.responses)
  .map(([status, response]) => answerBlock(status, response))
  .join('\n')}
</section>`
}

function answerBlock(status: string, response: Operation['responses'][string]): string {
  if ('$ref' in response) return ''
  const schemas = Object.entries(response.content ?? {})
  return schemas.map(([type, { schema }]) => `<h3>${status} ${escaped(type)}</h3>${schemaBlock(schema)}`).join('\n')
}

function schemaBlock(schema: unknown): string {
  return `<pre>${escaped(JSON.stringify(schema, null, 2))}</pre>`
}

function credentialOf({ security }: Operation): string {
  if (security.length === 0) return 'No credential.'
  return security.some(option => Object.keys(option).length === 0) ? 'A credential is optional.' : 'Needs a credential.'
}

function escaped(text: string): string {
  return Bun.escapeHTML(text)
}

const style = `
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
ul { list-style: none; padding: 0 } h2, ul b { font-family: ui-monospace, monospace } h2 { font-size: 1.1rem; margin-top: 3rem }
h3 { font-size: 0.9rem } pre { padding: 0.75rem; overflow: auto; background: #8882; border-radius: 4px; font-size: 0.8rem }`
