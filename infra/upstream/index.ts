export type { Pace } from './asked.ts'
export * from './hostile.ts'
export { startUpstream, type Upstream, type UpstreamOptions } from './server.ts'
