import type {
  getUser as getUserAsk,
  ReplyOf,
  RequestOf,
  resolveSession as resolveSessionAsk,
} from '@tollgate/contracts'
import type { Store } from './store.ts'
import type { ShowUser } from './users.ts'

/** `auth.resolve` */
export function resolveSession(store: Pick<Store, 'useSession'>) {
  return async ({ sessionHash }: RequestOf<typeof resolveSessionAsk>): Promise<ReplyOf<typeof resolveSessionAsk>> => {
    const session = await store.useSession(sessionHash)
    return session ? { status: 'active', ...session } : { status: 'unknown' }
  }
}

/** `auth.user` */
export function getUser(store: Pick<Store, 'userOf'>, showUser: ShowUser) {
  return async ({ account }: RequestOf<typeof getUserAsk>): Promise<ReplyOf<typeof getUserAsk>> => {
    const user = await store.userOf(account)
    return user ? { status: 'found', user: await showUser(user) } : { status: 'unknown' }
  }
}
