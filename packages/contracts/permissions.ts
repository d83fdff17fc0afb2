import { type Ask, type BusUser, type Event, serviceNames } from './ask.ts'
import { authAsks, NONCE_BUCKET, sessionEnded } from './auth.ts'
import { PAYMENTS_DURABLE, topupCredited, USAGE_DURABLE } from './billing.ts'
import { chainAsks, paymentSeen, paymentVanished } from './chain.ts'
import { ANSWERS_BUCKET, ANSWERS_STREAM, EVENTS_STREAM, NONCE_STREAM, SETTLEMENTS_STREAM } from './jetstream.ts'
import { KEY_USED_SUBJECT, keyChanged, keysAsks } from './keys.ts'
import { journalled, ledgerAsks, SETTLEMENTS_SUBJECT } from './ledger.ts'
import { defaultLimits, type LimitName, limitStream } from './limits.ts'

/** Every question and every fact of the system. */
export const asks: readonly Ask[] = [authAsks, keysAsks, ledgerAsks, chainAsks].flatMap(group =>
  Object.values<Ask>(group),
)
export const events: readonly Event[] = [
  sessionEnded,
  keyChanged,
  topupCredited,
  paymentSeen,
  paymentVanished,
  journalled,
]

/** NATS subject permissions of one user. The inbox is `_INBOX_<user>.>`; whoever answers may publish to the asker's inbox. */
export interface BusPermissions {
  readonly user: BusUser
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

export const busUsers: readonly BusUser[] = [...serviceNames, 'operator', 'consumer']

/** A user's own reply subjects: no service can read another's answers. */
export function inboxPrefix(user: BusUser): string {
  return `_INBOX_${user.replaceAll('-', '_')}`
}

/** Derived from the contracts, so that a permission can't drift from them: only a listed caller can ask, only the owner can answer. */
export function permissionsOf(user: BusUser): BusPermissions {
  const own = asks.filter(ask => ask.owner === user)
  const called = asks.filter(ask => ask.callers.includes(user))
  const facts = events.filter(event => event.owner === user)
  return {
    user,
    publish: [
      ...called.map(subjectPattern),
      ...facts.map(event => event.subject),
      ...(jetStreamNeeds[user] ?? []),
      ...(extraPublish[user] ?? []),
    ],
    subscribe: [`${inboxPrefix(user)}.>`, ...own.map(subjectPattern), ...(extraSubscribe[user] ?? [])],
  }
}

/** Money subjects end in a shard token. */
function subjectPattern(ask: Ask): string {
  return ask.sharded ? `${ask.subject}.*` : ask.subject
}

const manage = (stream: string) => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.CREATE.${stream}`,
  `$JS.API.STREAM.UPDATE.${stream}`,
]
/** `durable` names the consumer, so that no service can read as another. */
const consume = (stream: string, durable: string) => [
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
  `$JS.API.CONSUMER.CREATE.${stream}.${durable}`,
  `$JS.API.CONSUMER.CREATE.${stream}.${durable}.>`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
]
const limitStreams = (Object.keys(defaultLimits) as LimitName[]).map(limitStream)

const jetStreamNeeds: Partial<Record<BusUser, readonly string[]>> = {
  router: [
    '$JS.API.INFO',
    ...limitStreams.flatMap(stream => [
      ...manage(stream),
      `$JS.API.STREAM.MSG.GET.${stream}`,
      `$JS.API.DIRECT.GET.${stream}`,
    ]),
    'limit.>',
  ],
  auth: [
    '$JS.API.INFO',
    ...manage(NONCE_STREAM),
    ...manage(EVENTS_STREAM.name),
    `$JS.API.STREAM.MSG.GET.${NONCE_STREAM}`,
    `$JS.API.DIRECT.GET.${NONCE_STREAM}`,
    `$JS.API.DIRECT.GET.${NONCE_STREAM}.>`,
    `$KV.${NONCE_BUCKET}.>`,
  ],
  keys: ['$JS.API.INFO', ...manage(EVENTS_STREAM.name)],
  billing: [
    '$JS.API.INFO',
    ...manage(EVENTS_STREAM.name),
    ...consume(EVENTS_STREAM.name, PAYMENTS_DURABLE),
    ...consume(EVENTS_STREAM.name, USAGE_DURABLE),
    // Its usage read model can be rebuilt.
    `$JS.API.CONSUMER.DELETE.${EVENTS_STREAM.name}.${USAGE_DURABLE}`,
  ],
  'metering-proxy': [
    '$JS.API.INFO',
    ...manage(SETTLEMENTS_STREAM.name),
    `${SETTLEMENTS_SUBJECT}.*`,
    ...manage(ANSWERS_STREAM),
    `$JS.API.STREAM.MSG.GET.${ANSWERS_STREAM}`,
    `$JS.API.DIRECT.GET.${ANSWERS_STREAM}`,
    `$JS.API.DIRECT.GET.${ANSWERS_STREAM}.>`,
    `$KV.${ANSWERS_BUCKET}.>`,
  ],
  ledger: [
    '$JS.API.INFO',
    ...manage(EVENTS_STREAM.name),
    ...manage(SETTLEMENTS_STREAM.name),
    ...consume(SETTLEMENTS_STREAM.name, 'ledger'),
  ],
  'chain-watcher': ['$JS.API.INFO', ...manage(EVENTS_STREAM.name)],
  consumer: ['$JS.API.INFO', `$JS.API.STREAM.INFO.${EVENTS_STREAM.name}`, ...consume(EVENTS_STREAM.name, 'consumer')],
}

const extraPublish: Partial<Record<BusUser, readonly string[]>> = { router: [KEY_USED_SUBJECT] }

const extraSubscribe: Partial<Record<BusUser, readonly string[]>> = {
  router: [keyChanged.subject, sessionEnded.subject],
  keys: [KEY_USED_SUBJECT],
  consumer: ['events.>'],
}
