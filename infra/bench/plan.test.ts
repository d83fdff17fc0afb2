import { expect, test } from 'bun:test'
import { stepsOf } from './plan.ts'

test('every round measures every target at every load, and none always comes after the same one', () => {
  const plan = {
    targets: ['upstream', 'proxy', 'spread'],
    kinds: ['json', 'sse'],
    connections: [1, 64],
    rounds: 2,
    seconds: 1,
  } as const
  const steps = stepsOf(plan)
  const orderOf = (round: number, kind: string) =>
    steps.filter(step => step.round === round && step.kind === kind && step.connections === 64).map(step => step.target)
  expect(orderOf(0, 'json')).toEqual(['upstream', 'proxy', 'spread'])
  expect(orderOf(1, 'json')).toEqual(['spread', 'proxy', 'upstream'])
  expect(orderOf(0, 'sse')).toEqual(['upstream', 'proxy'])
  expect(steps).toHaveLength(2 * 2 * (3 + 2))
})
