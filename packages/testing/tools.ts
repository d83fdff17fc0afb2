import { join } from 'node:path'

export const root = join(import.meta.dir, '..', '..')

/** Where the bootstrap puts what it obtains. */
export const toolsDir = join(root, '.tools')
