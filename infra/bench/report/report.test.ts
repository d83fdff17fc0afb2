import { expect, test } from 'bun:test'
import { plot } from './plot.ts'
import { asMarkdown, asText, figure } from './table.ts'

test('tables line up in text and hold in Markdown', () => {
  const table = {
    title: 'T',
    columns: ['target', 'n'],
    words: 1,
    rows: [
      ['proxy', figure(12_345)],
      ['a', figure(0.123)],
    ],
  }
  expect(asText(table)).toBe('T\ntarget       n\n------  ------\nproxy   12,345\na         0.12')
  expect(asMarkdown(table)).toBe('**T**\n\n| target | n |\n| --- | ---: |\n| proxy | 12,345 |\n| a | 0.12 |')
})

test('the longest bar takes the whole width', () => {
  const [title, all, half] = plot('P', [
    { name: 'all', value: 100 },
    { name: 'half', value: 50 },
  ]).split('\n')
  expect(title).toBe('P')
  expect(all).toBe(`all   ${'█'.repeat(50)} 100`)
  expect(half).toBe(`half  ${'█'.repeat(25)} 50`)
})
