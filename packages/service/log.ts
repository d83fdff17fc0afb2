import pino, { type Logger } from 'pino'

export type Log = Logger

/** JSON lines on standard output: events with fields and a request id; never keys, cookies, bodies, prompts or rows. */
export function createLog(service: string, level: string): Log {
  return pino(
    {
      level,
      base: { service },
      formatters: { level: label => ({ level: label }) },
      serializers: { err: pino.stdSerializers.errWithCause },
      redact: ['headers', 'authorization', 'cookie', 'body', 'password', 'key.secret'],
    },
    pino.destination({ dest: 1, sync: false }),
  )
}
