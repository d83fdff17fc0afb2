import { expect, test } from 'bun:test'
import { freePort, portIsFree } from './port.ts'

test('a port is given once, also to processes that ask at the same time', async () => {
  const askMany = `
    const { freePort } = await import('${import.meta.dir}/port.ts')
    console.log(JSON.stringify(Array.from({ length: 1000 }, () => freePort())))
    process.stdin.resume()`
  const others = [1, 2].map(() => Bun.spawn([process.execPath, '-e', askMany], { stdin: 'pipe', stdout: 'pipe' }))
  const lists = await Promise.all(others.map(({ stdout }) => firstLine(stdout)))
  const ports = [...lists.flatMap(line => JSON.parse(line) as number[]), freePort(), freePort()]
  for (const other of others) other.kill()
  expect(new Set(ports).size).toBe(ports.length)
  const [port = 0] = ports
  expect(portIsFree(port)).toBe(true)
  // Servers that we don't write listen on every address.
  expect(portIsFree(port, '0.0.0.0')).toBe(true)
})

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const bytes of stream) {
    text += new TextDecoder().decode(bytes)
    if (text.includes('\n')) break
  }
  return text.split('\n', 1)[0] ?? ''
}
