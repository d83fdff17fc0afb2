import { expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { eventually } from '@tollgate/testing'
import { startWorld } from './test/world.ts'

test('SIGTERM under load loses no request: those in work are answered, callers are told to leave, new ones find the door closed', async () => {
  await using world = await startWorld({ env: { LIMITS: '{"chat":{"count":100000}}' } })
  const { bearer } = world.key()
  world.backend.answer(async () => {
    await Bun.sleep(30)
    return Response.json({ ok: true })
  })
  const outcomes: string[] = []
  let running = true
  const callers = Array.from({ length: 20 }, async () => {
    while (running) {
      try {
        const answer = await fetch(`${world.router.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: bearer },
          body: '{}',
        })
        outcomes.push(`${answer.status} ${JSON.stringify(await answer.json())}`)
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
        outcomes.push(code)
        // The door is closed: a load balancer asks another router.
        if (code === 'ECONNREFUSED') return
      }
    }
  })
  await eventually(() => outcomes.length > 100)
  expect(await world.router.stop()).toBe(0)
  running = false
  await Promise.all(callers)
  const counts = Map.groupBy(outcomes, outcome => outcome)
  expect([...counts.keys()].sort()).toEqual(['200 {"ok":true}', 'ECONNREFUSED'])
  expect(counts.get('ECONNREFUSED')).toHaveLength(20)
}, 30_000)

test('a stream in work is finished within the time to drain, and the router is not ready meanwhile', async () => {
  await using world = await startWorld()
  const { bearer } = world.key()
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined
  const text = new TextEncoder()
  world.backend.answer(() => {
    const stream = new ReadableStream<Uint8Array>({
      start: controller => {
        feed = controller
        controller.enqueue(text.encode('data: 1\n\n'))
      },
    })
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
  })
  const answer = await fetch(`${world.router.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: bearer },
    body: '{}',
  })
  const reader = answer.body?.getReader()
  await reader?.read()
  const idle = createConnection({ port: world.router.port, host: '127.0.0.1' })
  let heard = ''
  idle.on('data', chunk => {
    heard += chunk
  })
  const stopped = world.router.stop()
  await eventually(() => {
    if (!heard.includes('"accepting":false')) idle.write('GET /readyz HTTP/1.1\r\nHost: gate.example\r\n\r\n')
    return heard.includes('"accepting":false')
  })
  expect(heard).toContain('HTTP/1.1 503')
  expect(heard.toLowerCase()).toContain('connection: close')
  feed?.enqueue(text.encode('data: [DONE]\n\n'))
  feed?.close()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: [DONE]\n\n')
  expect((await reader?.read())?.done).toBe(true)
  expect(await stopped).toBe(0)
}, 30_000)

test('a router that is killed mid-stream costs its own connections only', async () => {
  await using world = await startWorld({ routers: 2 })
  const { bearer } = world.key()
  const feeds: ReadableStreamDefaultController<Uint8Array>[] = []
  const event = new TextEncoder().encode('data: 1\n\n')
  world.backend.answer(() => {
    const stream = new ReadableStream<Uint8Array>({
      start: controller => {
        feeds.push(controller)
        controller.enqueue(event)
      },
    })
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
  })
  const [killed, other] = await Promise.all(
    world.routers.map(async ({ url }) => {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: bearer },
        body: '{}',
      })
      const reader = answer.body?.getReader()
      await reader?.read()
      return reader
    }),
  )
  await world.routers[0]?.kill9()
  expect(killed?.read()).rejects.toThrow()
  for (const feed of feeds) {
    try {
      feed.enqueue(event)
      feed.close()
    } catch {
      // The stream of the killed router: the service was told that nobody listens.
    }
  }
  expect((await other?.read())?.value).toEqual(event)
  expect((await other?.read())?.done).toBe(true)
}, 30_000)
