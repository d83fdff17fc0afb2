import type { Faults } from '../faults.ts'
import type { Chain } from '../state/chain.ts'
import { accountMethods } from './account-methods.ts'
import { clusterMethods } from './cluster-methods.ts'
import type { View } from './commitment.ts'
import { historyMethods } from './history-methods.ts'
import type { Params } from './params.ts'
import { sendingMethods } from './sending-methods.ts'

/** What a method works with. */
export type Node = { chain: Chain; view: View; faults: Faults }

export type Methods = Record<string, (node: Node, params: Params) => unknown>

/** Every method of the HTTP side, by its name. */
export const methods: ReadonlyMap<string, Methods[string]> = new Map(
  Object.entries({ ...clusterMethods, ...accountMethods, ...sendingMethods, ...historyMethods }),
)
