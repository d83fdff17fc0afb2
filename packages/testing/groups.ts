import { Glob } from 'bun'

/** Test files that run together. */
export interface Group {
  name: string
  files: string[]
  /** Processes that share the files. */
  workers: number
}

/** Two suit the smallest machine that the tests are made for, and bound what they ask of a larger one. */
const WORKERS = 2

/**
 * The test files, in two groups: those that keep to themselves, side by side, then those that run a whole stack or kill
 * what others would need, one after the other. A filter is a part of a path.
 */
export async function planGroups(root: string, filters: readonly string[]): Promise<Group[]> {
  const found = await Array.fromAsync(new Glob('{packages,services,infra}/**/*.test.ts').scan(root))
  const files = found
    .filter(file => !file.includes('node_modules/'))
    .filter(file => filters.length === 0 || filters.some(filter => file.includes(filter)))
    .sort()
  const groups = [
    { name: 'tests', files: files.filter(file => !isHeavy(file)), workers: WORKERS },
    { name: 'whole-stack and fault tests', files: files.filter(isHeavy), workers: 1 },
  ]
  return groups.filter(group => group.files.length > 0)
}

export function isHeavy(file: string): boolean {
  return file.startsWith('infra/e2e/') || /\.(stack|fault)\.test\.ts$/.test(file)
}
