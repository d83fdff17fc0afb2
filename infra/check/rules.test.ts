import { expect, test } from 'bun:test'
import { check } from './rules.ts'

test('a service that imports another service is named', () => {
  expect(check('services/keys/http.ts', "import { a } from '../ledger/store.ts'\na()")).toHaveLength(1)
  expect(check('services/keys/http.ts', "import { a } from '@tollgate/ledger'\na()")).toHaveLength(1)
  expect(check('services/keys/http.ts', "import { a } from '@tollgate/bus'\na()")).toEqual([])
})

test('only the bus imports nats, only db imports postgres', () => {
  expect(check('services/keys/store.ts', "import postgres from 'postgres'\npostgres()")).toHaveLength(1)
  expect(check('packages/bus/call.ts', "import { connect } from 'nats'\nconnect()")).toEqual([])
})

test('the environment is read in config.ts alone', () => {
  expect(check('services/keys/http.ts', 'const a = process.env.A\nexport { a }')).toHaveLength(1)
  expect(check('services/keys/config.ts', 'const a = process.env.A\nexport { a }')).toEqual([])
})

test('a long file and a long composition root are named', () => {
  expect(check('services/keys/key.ts', '// a line\n'.repeat(400))).toHaveLength(1)
  expect(check('services/keys/index.ts', '// a line\n'.repeat(61))).toHaveLength(1)
})
