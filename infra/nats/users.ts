import { createHmac } from 'node:crypto'
import { type BusUser, busUsers, permissionsOf } from '@tollgate/contracts'
import type { NatsUser } from './config.ts'

/** Every user with the permissions that the contracts give it, and a password derived from the secret. */
export function natsUsers(secret: string): NatsUser[] {
  return busUsers.map(name => ({ name, password: natsPassword(name, secret), ...subjects(name) }))
}

export function natsPassword(user: BusUser, secret: string): string {
  return createHmac('sha256', secret).update(`nats user ${user}`).digest('hex')
}

function subjects(name: BusUser) {
  const { publish, subscribe } = permissionsOf(name)
  return { publish, subscribe }
}
