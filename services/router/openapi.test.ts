import { expect, test } from 'bun:test'
import { publicErrors, routes } from '@tollgate/contracts'
import { docsPage } from './docs-page.ts'
import { openApi } from './openapi.ts'

const document = openApi(routes)

test('every route is described, and nothing else', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(described.sort()).toEqual(
    routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).sort(),
  )
})

test('operations have names of their own, their parameters, and every code that they may answer', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map(operation => ({ path, operation })),
  )
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
  for (const { path, operation } of operations) {
    const named = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
    const inPath = operation.parameters?.filter(parameter => parameter.in === 'path') ?? []
    expect(new Set(inPath.map(({ name }) => name)), path).toEqual(new Set(named))
    for (const status of ['400', '403', '404', '500', '503'])
      expect(Object.keys(operation.responses), path).toContain(status)
  }
  expect(Object.keys(document.paths['/v1/chat/completions']?.post?.responses ?? {})).toEqual(
    ['200', ...new Set(Object.values(publicErrors).map(String))].sort(),
  )
})

test('every reference leads somewhere, and the document survives JSON', () => {
  const text = JSON.stringify(document)
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(openApi(routes))))
  for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path
      .split('/')
      .reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], JSON.parse(text))
    expect(found, path).toBeDefined()
  }
})

test('the page needs no script and no other host, and has every endpoint', () => {
  const page = docsPage(document)
  expect(page).not.toMatch(/<script|https?:\/\/|src=|@import|url\(/)
  for (const path of Object.keys(document.paths)) expect(page).toContain(path)
  const targets = Array.from(page.matchAll(/href="#(\w+)"/g), ([, id]) => id)
  expect(targets).toHaveLength(routes.length)
  for (const id of targets) expect(page).toContain(`id="${id}"`)
})
