/** What can be measured, in the order of the table. */
export const targetNames = ['upstream', 'proxy', 'portkey', 'tollgate', 'spread'] as const
export type TargetName = (typeof targetNames)[number]

export const targetTitles: Readonly<Record<TargetName, string>> = {
  upstream: 'the upstream alone',
  proxy: 'a bare one-hop proxy',
  portkey: 'Portkey, pass-through',
  tollgate: 'Tollgate, one account',
  spread: 'Tollgate, many accounts',
}

/**
 * `json`: whole bodies, as many as it can. `sse`: streams whose pieces come at once, as many as it can. `paced`: streams at a
 * model's pace, for the first byte and the delay of each piece.
 */
export const kinds = ['json', 'sse', 'paced'] as const
export type Kind = (typeof kinds)[number]

export interface Plan {
  targets: readonly TargetName[]
  kinds: readonly Kind[]
  connections: readonly number[]
  rounds: number
  /** Of each measurement, after its warm-up. */
  seconds: number
}

export interface Step {
  round: number
  kind: Kind
  connections: number
  target: TargetName
}

/**
 * Every measurement of a run. Within a round the targets take turns, so that what the machine does meanwhile meets all of
 * them; every second round goes backwards, so that none always comes after the same one.
 */
export function stepsOf({ targets, kinds, connections, rounds }: Plan): Step[] {
  const steps: Step[] = []
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? targets : targets.toReversed()
    for (const kind of kinds)
      for (const count of connections)
        for (const target of order) {
          if (isMeasured(target, kind)) steps.push({ round, kind, connections: count, target })
        }
  }
  return steps
}

/** Many accounts differ from one only in what the ledger does, which whole bodies show best. */
function isMeasured(target: TargetName, kind: Kind): boolean {
  return target !== 'spread' || kind === 'json'
}
