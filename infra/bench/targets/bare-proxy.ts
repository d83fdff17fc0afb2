/**
 * The least that a gateway can be, as a process: one hop, nothing looked at, the answer streamed. The request's body is read
 * before it is sent: handing Bun's stream on gave 27k requests/s at 64 connections where this gave 33k.
 */
const { UPSTREAM = '', PORT } = process.env

Bun.serve({
  port: Number(PORT),
  hostname: '127.0.0.1',
  reusePort: false,
  idleTimeout: 0,
  async fetch(request) {
    const path = request.url.slice(request.url.indexOf('/', 'http://'.length))
    const answer = await fetch(UPSTREAM + path, {
      method: request.method,
      headers: request.headers,
      body: request.method === 'POST' ? await request.arrayBuffer() : null,
      decompress: false,
    })
    return new Response(answer.body, { status: answer.status, headers: answer.headers })
  },
})
process.stdin.on('end', () => process.exit(0)).resume()
