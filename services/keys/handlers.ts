import type { ReplyOf, RequestOf, resolveKey } from '@tollgate/contracts'
import type { Store } from './store.ts'

/** `keys.resolve`: all questions of a message are one statement. */
export function resolveKeys(store: Pick<Store, 'resolveKeys'>) {
  return async (requests: RequestOf<typeof resolveKey>[]): Promise<ReplyOf<typeof resolveKey>[]> => {
    const bearers = await store.resolveKeys(requests.map(request => request.keyHash))
    const byHash = new Map(bearers.map(({ hash, ...bearer }) => [hash, bearer]))
    return requests.map(({ keyHash }) => {
      const bearer = byHash.get(keyHash)
      return bearer ? { status: 'active', ...bearer } : { status: 'unknown' }
    })
  }
}
