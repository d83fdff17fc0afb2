import type { Verdict } from '../goals.ts'
import type { Machine } from '../machine.ts'
import { targetTitles } from '../plan.ts'
import type { Row } from '../summary.ts'
import { plot } from './plot.ts'
import { asMarkdown, asText, type Table } from './table.ts'
import { loadTable, pacedTable, processTable, verdictTable } from './tables.ts'

/** Everything that a run found. */
export interface Report {
  machine: Machine
  rows: readonly Row[]
  verdicts: readonly Verdict[]
  /** Where a request's time goes in Tollgate; empty when it did not run. */
  budget: readonly Table[]
  /** What `audit` said of the stack after the run; null when it did not run. */
  audit: { clean: boolean; text: string } | null
}

export function asReport(report: Report, shape: 'text' | 'markdown'): string {
  const table = shape === 'text' ? asText : asMarkdown
  const plots = plotsOf(report.rows).map(text => (shape === 'text' ? text : `\`\`\`text\n${text}\n\`\`\``))
  const parts = [...tablesOf(report).map(table), ...plots, machineLine(report.machine), auditLine(report.audit)]
  return `${parts.filter(part => part !== '').join('\n\n')}\n`
}

function tablesOf({ rows, verdicts, budget }: Report): Table[] {
  const measured = (kind: Row['kind']) => rows.some(row => row.kind === kind)
  return [
    ...(measured('json') ? [loadTable('json', rows)] : []),
    ...(measured('sse') ? [loadTable('sse', rows)] : []),
    ...(measured('paced') ? [pacedTable(rows)] : []),
    ...[processTable(rows)].filter(table => table !== undefined),
    ...budget,
    verdictTable(verdicts),
  ]
}

function plotsOf(rows: readonly Row[]): string[] {
  return [64, 256].flatMap(connections => {
    const bars = rows
      .filter(row => row.kind === 'json' && row.connections === connections)
      .map(row => ({ name: targetTitles[row.target], value: row.requestsPerSecond }))
    return bars.length > 1 ? [plot(`Requests per second, ${connections} connections`, bars)] : []
  })
}

function machineLine({ cores, model, bun, generator, date }: Machine): string {
  return `${cores} cores (${model}) shared by everything, Bun ${bun}, ${generator}, ${date}.`
}

function auditLine(audit: Report['audit']): string {
  if (!audit) return ''
  return audit.clean ? 'Audit after the run: clean.' : `AUDIT AFTER THE RUN: NOT CLEAN\n${audit.text}`
}
