import { eventually } from '@tollgate/testing'
import type { Caller, Rig } from './rig.ts'

/** Sends, and leaves after this time or at the first bytes. */
export async function leave(
  rig: Rig,
  caller: Caller,
  body: object,
  when: number | 'at the first bytes',
): Promise<void> {
  const leaving = new AbortController()
  const timer = typeof when === 'number' ? setTimeout(() => leaving.abort(), when) : undefined
  try {
    const response = await rig.chat(caller, { max_tokens: 100, ...body }, { signal: leaving.signal })
    if (when === 'at the first bytes') {
      await response.body?.getReader().read()
      leaving.abort()
    } else await response.text()
  } catch (error) {
    if (!leaving.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Callers who leave at any moment, many at once; one in five wanted a whole answer. */
export async function leaveInRounds(
  rig: Rig,
  caller: Caller,
  { rounds, atOnce }: { rounds: number; atOnce: number },
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const leavers = Array.from({ length: atOnce }, (_, index) => {
      const when = index % 7 === 0 ? 'at the first bytes' : Math.floor(Math.random() * LATEST_MS)
      return leave(rig, caller, { model: 'small', stream: index % 5 !== 0 }, when)
    })
    await Promise.all(leavers)
  }
}

/** After the end of a stream of 20 tokens, one every 5 ms. */
const LATEST_MS = 150

/** All work is done and settled. */
export function settled(rig: Rig): Promise<true> {
  const idle = async () => {
    const figures = ['completions_in_work', 'holds_open', 'settlements_waiting'].map(name =>
      rig.gauge(`tollgate_${name}`),
    )
    return (await Promise.all(figures)).every(figure => figure === 0)
  }
  return eventually(async () => (await idle()) || undefined, { withinMs: 10_000 })
}
