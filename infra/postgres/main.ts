/**
 * `bun run migrate`: roles, schemas and migrations in the database that DATABASE_ADMIN_URL names. The passwords of the
 * services' roles are derived from ROLES_SECRET; prints what each service has to be given as DATABASE_URL only with --urls.
 */
import { databaseServices, provision } from './provision.ts'

const { DATABASE_ADMIN_URL: adminUrl, ROLES_SECRET: secret } = process.env
if (!adminUrl || !secret) {
  console.error(
    'DATABASE_ADMIN_URL (who may create roles and schemas) and ROLES_SECRET (their passwords come from it) must be set',
  )
  process.exit(1)
}
const urls = await provision({
  adminUrl,
  secret,
  onMigrated: (service, files) => console.log(`${service}: ${files.join(', ')}`),
})
console.log('every schema is up to date')
if (process.argv.includes('--urls'))
  for (const service of databaseServices) console.log(`${service} ${urls[service].runtime}`)
