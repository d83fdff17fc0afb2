import { expect, test } from 'bun:test'
import { Kind, type TObject, type TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { asks, ledger, paymentSeen } from '@tollgate/contracts'
import * as fc from 'fast-check'
import { codecOf } from './codec.ts'
import { BusFault } from './faults.ts'

test('what contracts say travels as the schema library itself would have it, both ways', () => {
  for (const schema of contractSchemas()) {
    const library = TypeCompiler.Compile(schema)
    fc.assert(
      fc.property(wireOf(schema), wire => {
        const value = codecOf(schema).fromWire(wire)
        expect(value).toEqual(library.Decode(wire))
        expect(codecOf(schema).toWire(value)).toEqual(wire)
      }),
      { numRuns: 50 },
    )
  }
})

test('what does not fit is refused on the side of the wire, whichever way it goes', () => {
  const { reply } = ledger.hold
  const held = { status: 'held', grantedMicro: 1, availableMicro: 2 }
  for (const wrong of [
    null,
    {},
    [],
    'held',
    { ...held, status: 'kept' },
    { ...held, grantedMicro: -1 },
    { ...held, grantedMicro: 1.5 },
    { ...held, grantedMicro: '1' },
    { ...held, grantedMicro: undefined },
    { ...held, grantedMicro: 2 ** 53 },
  ]) {
    expect(() => codecOf(reply).fromWire(wrong)).toThrow(BusFault)
  }
  expect(() => codecOf(reply).toWire({ status: 'held', grantedMicro: -1n, availableMicro: 0n })).toThrow(BusFault)
  expect(() => codecOf(reply).toWire({ status: 'held', grantedMicro: 1n } as never)).toThrow(BusFault)
  expect(() => codecOf(reply).toWire(undefined as never)).toThrow(BusFault)
})

function contractSchemas(): TSchema[] {
  return [...asks.flatMap(({ request, reply }) => [request, reply]), ledger.journalled.payload, paymentSeen.payload]
}

/** Values of the wire that fit a schema. */
function wireOf(schema: TSchema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  switch (schema[Kind]) {
    case 'Object':
      return fc.record(
        Object.fromEntries(Object.entries((schema as TObject).properties).map(([name, each]) => [name, wireOf(each)])),
      )
    case 'Union':
      return fc.oneof(...(schema.anyOf as TSchema[]).map(wireOf))
    case 'Array':
      return fc.array(wireOf(schema.items), { maxLength: 3 })
    case 'Record':
      return fc.dictionary(fc.string(), fc.jsonValue())
    case 'Null':
      return fc.constant(null)
    case 'Boolean':
      return fc.boolean()
    case 'Integer':
    case 'Number':
      return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? Number.MAX_SAFE_INTEGER })
    case 'String':
      return (schema.pattern ? fc.stringMatching(new RegExp(schema.pattern)) : fc.string()).filter(
        text => text.length >= (schema.minLength ?? 0) && text.length <= (schema.maxLength ?? 1_000),
      )
    default:
      throw new Error(`no values for a ${schema[Kind]}`)
  }
}
