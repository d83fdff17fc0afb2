export { DatabaseUnavailable, isUniqueViolation } from './faults.ts'
export { migrate } from './migrate.ts'
export { type Database, type DatabaseOptions, openDatabase } from './open.ts'
