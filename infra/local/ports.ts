import { freePort, portIsFree } from '@tollgate/process'
import { readWhole, writeWhole } from './folder.ts'

export interface Ports {
  /** The port of a process: the one it had in the last run, when that is free. The chain takes two in a row. */
  of(process: string, options?: { adjacent?: number }): number
}

/** Ports away from the standard ones, the same from run to run, so that what was pasted once goes on working. */
export function openPorts(file: string): Ports {
  const remembered = readWhole<Record<string, number>>(file) ?? {}
  /** A part may not listen yet on the port of its last run. */
  const isRemembered = (port: number, adjacent: number) =>
    Object.values(remembered).some(other => other >= port - 1 && other <= port + adjacent)
  return {
    of(process, { adjacent = 0 } = {}) {
      const last = remembered[process]
      if (last && allFree(last, adjacent)) return last
      let port = freePort({ adjacent })
      while (isRemembered(port, adjacent)) port = freePort({ adjacent })
      remembered[process] = port
      writeWhole(file, remembered)
      return port
    },
  }
}

function allFree(first: number, adjacent: number): boolean {
  return Array.from({ length: adjacent + 1 }, (_, offset) => first + offset).every(port => portIsFree(port))
}
