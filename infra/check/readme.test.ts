import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { routes } from '@tollgate/contracts'
import { Glob } from 'bun'

const root = new URL('../../', import.meta.url).pathname
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const readme = read('README.md')

/** Set for every process by its surroundings, and described where they are used. */
const NOT_OURS = new Set(['PATH', 'HOME'])

test('the README names every setting of every service', () => {
  const files = ['services/*/config.ts', 'packages/service/config.ts'].flatMap(path => [
    ...new Glob(path).scanSync(root),
  ])
  expect(files.length).toBeGreaterThan(6)
  const settings = files.flatMap(file =>
    [...read(file).matchAll(/^ {2,8}([A-Z][A-Z0-9_]+): /gm)].map(match => match[1] ?? ''),
  )
  expect(settings.length).toBeGreaterThan(40)
  expect(settings.filter(name => !NOT_OURS.has(name) && !readme.includes(`\`${name}\``))).toEqual([])
})

test('the README names every public endpoint', () => {
  expect(routes.map(({ path }) => path).filter(path => !readme.includes(path))).toEqual([])
})

test('every service has a README, and the map leads to it', () => {
  for (const service of new Glob('services/*/index.ts').scanSync(root)) {
    const path = service.replace('index.ts', 'README.md')
    expect(read(path).length).toBeGreaterThan(200)
    expect(readme).toContain(path)
  }
})

test('every command that the README names is there', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const named = [...readme.matchAll(/`bun run ([a-z:]+)/g)].map(match => match[1] ?? '')
  expect(named.length).toBeGreaterThan(4)
  expect(named.filter(name => !scripts[name])).toEqual([])
})
