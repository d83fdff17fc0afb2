/** How a program is asked to end. */
export interface EndHandlers {
  first(reason: string): void
  /** Someone is impatient. */
  again(): void
}

/** One Ctrl-C reaches us from the terminal and again through every program between: within this time it is the same one. */
const SAME_REQUEST_MS = 1_000

/** Listens for signals and, when supervised, for the end of standard input: then whoever started us is gone. */
export function onEndRequest(supervised: boolean, handlers: EndHandlers): void {
  let firstAt: number | undefined
  const request = (reason: string) => {
    if (firstAt === undefined) {
      firstAt = performance.now()
      handlers.first(reason)
    } else if (performance.now() - firstAt > SAME_REQUEST_MS) handlers.again()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => request(signal))
  if (!supervised) return
  const gone = () => {
    if (firstAt === undefined) request('nobody is waiting any more')
  }
  process.stdin.on('end', gone).on('close', gone).on('error', gone).resume()
}
