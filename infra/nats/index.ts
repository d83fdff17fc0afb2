export * from './binary.ts'
export * from './config.ts'
export * from './server.ts'
export * from './users.ts'
