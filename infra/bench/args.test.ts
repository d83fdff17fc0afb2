import { expect, test } from 'bun:test'
import { readArgs } from './args.ts'

test('arguments are checked, and quick has defaults of its own', () => {
  expect(readArgs(['--quick', '--json', '--targets', 'proxy,upstream'])).toMatchObject({
    output: 'json',
    targets: ['upstream', 'proxy'],
    rounds: 1,
    seconds: 1,
  })
  expect(readArgs(['--connections', '2,8'])).toMatchObject({ connections: [2, 8], rounds: 3 })
  expect(() => readArgs(['--targets', 'litellm'])).toThrow('"litellm" is none of upstream')
  expect(() => readArgs(['--seconds', '0.5'])).toThrow('--seconds')
  expect(() => readArgs(['--conections', '1'])).toThrow()
})
