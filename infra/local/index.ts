export { type AnotherRouter, startAnotherRouter } from './another-router.ts'
export type { GatewayJson, ServiceProcess } from './gateway-json.ts'
