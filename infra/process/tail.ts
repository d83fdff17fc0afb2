import { readFileSync } from 'node:fs'

/** The last lines of a log: what a person needs to see when its process died. */
export function tail(file: string, lines = 15): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
  } catch {
    return ''
  }
}
