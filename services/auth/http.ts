import { isId, NonceRequest, PublicError, VerifySignInRequest } from '@tollgate/contracts'
import { accountOf, identityOf, type ServiceHttpOptions, serviceHttp } from '@tollgate/service'
import type { EndSessions } from './end-sessions.ts'
import { type CookieOptions, clearedCookie, sessionCookie } from './session.ts'
import type { SignIn } from './sign-in.ts'
import type { Store } from './store.ts'
import type { ShowUser } from './users.ts'

export interface AuthHttpParts extends Omit<ServiceHttpOptions, 'service'> {
  signIn: SignIn
  store: Pick<Store, 'userOf' | 'listSessions'>
  showUser: ShowUser
  endSessions: EndSessions
  cookie: CookieOptions
}

const ok = { ok: true } as const

/** `/auth/*`, behind the router. */
export function authHttp({ signIn, store, showUser, endSessions, cookie, ...shell }: AuthHttpParts) {
  return serviceHttp({ service: 'auth', ...shell })
    .post('/auth/nonce', ({ body, request }) => signIn.nonce(body.address, { origin: request.headers.get('origin') }), {
      body: NonceRequest,
    })
    .post(
      '/auth/verify',
      async ({ body, request, set }) => {
        const { usr, session } = identityOf(request)
        const replaces = usr && session ? { usr, session } : null
        const { user, token } = await signIn.verify(body, { origin: request.headers.get('origin'), replaces })
        set.headers['set-cookie'] = sessionCookie(token, cookie)
        return { user }
      },
      { body: VerifySignInRequest },
    )
    .post('/auth/logout', async ({ request, set }) => {
      const { usr, session } = identityOf(request)
      if (usr && session) await endSessions.one(usr, session)
      // Only now: a browser that lost its cookie could not ask again.
      set.headers['set-cookie'] = clearedCookie(cookie)
      return ok
    })
    .get('/auth/me', async ({ request }) => {
      const user = await store.userOf(accountOf(request).acct)
      if (!user) throw new PublicError('unauthorized', 'sign in again')
      return { user: await showUser(user) }
    })
    .get('/auth/sessions', async ({ request }) => {
      const { usr, session } = accountOf(request)
      const live = await store.listSessions(usr)
      return {
        data: live.map(({ id, createdAt, lastUsedAt, expiresAt }) => ({
          id,
          current: id === session,
          createdAt: createdAt.getTime(),
          lastUsedAt: lastUsedAt.getTime(),
          expiresAt: expiresAt.getTime(),
        })),
      }
    })
    .delete('/auth/sessions', async ({ request, set }) => {
      await endSessions.all(accountOf(request).usr)
      set.headers['set-cookie'] = clearedCookie(cookie)
      return ok
    })
    .delete('/auth/sessions/:id', async ({ request, params, set }) => {
      const { usr, session } = accountOf(request)
      const found = isId('session', params.id) && (await endSessions.one(usr, params.id))
      if (!found) throw new PublicError('not_found', 'you have no session with this id')
      if (params.id === session) set.headers['set-cookie'] = clearedCookie(cookie)
      return ok
    })
}
