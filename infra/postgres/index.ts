export * from './cluster.ts'
export * from './home.ts'
export * from './provision.ts'
