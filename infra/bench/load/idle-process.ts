/**
 * Clients that hold streams open, as a process: an `IdleLoad` as JSON in; a line `{open, cut}` out twice a second. Sockets, since
 * thousands of `fetch`es would cost what is to be measured.
 */
import { connect } from 'node:net'

export interface IdleLoad {
  /** Clients share them evenly. */
  origins: string[]
  path: string
  credential: string
  body: string
  clients: number
  /** Begun each second, so that none is refused for what the machine can't do at once. */
  perSecond: number
}

export interface IdleState {
  /** Streams that have begun, and of them, those that have ended. */
  open: number
  cut: number
}

const load: IdleLoad = JSON.parse(process.argv[2] ?? '') // written by `startIdle`
const state: IdleState = { open: 0, cut: 0 }
const origins = load.origins.map(origin => new URL(origin))

setInterval(() => console.log(JSON.stringify(state)), 500)
process.stdin.on('end', () => process.exit(0)).resume()
for (let index = 0; index < load.clients; index++) {
  const origin = origins[index % origins.length]
  if (origin) open(origin)
  if (index % 10 === 9) await Bun.sleep((10 / load.perSecond) * 1_000)
}

function open(origin: URL): void {
  let begun = false
  const socket = connect({ host: origin.hostname, port: Number(origin.port) })
  socket.on('data', bytes => {
    if (begun) return
    begun = true
    if (bytes.toString().startsWith('HTTP/1.1 200')) state.open++
    else socket.destroy()
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    state.cut++
  })
  socket.write(
    `POST ${load.path} HTTP/1.1\r\nhost: ${origin.host}\r\nauthorization: Bearer ${load.credential}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(load.body)}\r\n\r\n${load.body}`,
  )
}
