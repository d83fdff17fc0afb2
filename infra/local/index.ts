export type { GatewayJson, ServiceProcess } from './gateway-json.ts'
