import type { Bus } from '@tollgate/bus'
import { type SessionId, sessionEnded, type UserId } from '@tollgate/contracts'
import type { EndedSession, Store } from './store.ts'

export interface EndSessions {
  /** False when the user has no such session. Ending it again tells the routers again. */
  one(user: UserId, id: SessionId): Promise<boolean>
  all(user: UserId): Promise<void>
  announce(ended: readonly EndedSession[]): Promise<void>
}

/** The database says first that a session has ended, then the routers are told, then the caller is answered. */
export function endSessions(
  store: Pick<Store, 'endSession' | 'endSessions'>,
  bus: Pick<Bus, 'publish'>,
  now: () => number = Date.now,
): EndSessions {
  async function announce(ended: readonly EndedSession[]): Promise<void> {
    const at = now()
    await Promise.all(
      ended.map(({ id, secretHash }) =>
        bus.publish(sessionEnded, { v: 1, session: id, sessionHash: secretHash, at }, { id: `session_ended:${id}` }),
      ),
    )
  }

  return {
    announce,
    async one(user, id) {
      const ended = await store.endSession(user, id)
      if (ended) await announce([ended])
      return ended !== null
    },
    async all(user) {
      await announce(await store.endSessions(user))
    },
  }
}
