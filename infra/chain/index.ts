export type { FaultControls, FaultSettings } from './faults.ts'
export { type ChainInfo, type ChainOptions, type RunningChain, startChain } from './start.ts'
