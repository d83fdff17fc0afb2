import type { StaticDecode, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { converterOf } from './convert.ts'
import { BusFault } from './faults.ts'

/** Turns a value of code (bigints) into a value of the wire (JSON integers) and back, checked both ways. */
export interface Codec<S extends TSchema> {
  toWire(value: StaticDecode<S>): unknown
  fromWire(wire: unknown): StaticDecode<S>
}

const compiled = new WeakMap<TSchema, Codec<TSchema>>()

/** The codec of a schema; compiled once a process. Throws `BusFault('invalid')` for what does not fit. */
export function codecOf<S extends TSchema>(schema: S): Codec<S> {
  let codec = compiled.get(schema)
  if (!codec) {
    codec = compile(schema)
    compiled.set(schema, codec)
  }
  // The map is keyed by the schema itself, so the codec found is the codec of S.
  return codec as unknown as Codec<S>
}

function compile(schema: TSchema): Codec<TSchema> {
  const check = TypeCompiler.Compile(schema)
  const decode = converterOf(schema, 'Decode')
  const encode = converterOf(schema, 'Encode')
  const fits = (wire: unknown) => {
    if (check.Check(wire)) return wire
    const [error] = check.Errors(wire)
    // A path of our own contracts: for the log, callers outside never see it.
    throw new BusFault('invalid', 'the message does not fit its contract', {
      cause: error && `${error.path}: ${error.message}`,
    })
  }
  return {
    toWire: value => fits(encode ? encode(value) : value),
    fromWire: wire => (decode ? decode(fits(wire)) : fits(wire)),
  }
}

const text = new TextEncoder()
const chars = new TextDecoder('utf-8', { fatal: true })

export function toBytes(wire: unknown): Uint8Array {
  return text.encode(JSON.stringify(wire))
}

export function fromBytes(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(chars.decode(bytes))
  } catch (cause) {
    throw new BusFault('invalid', 'the message is not JSON', { cause })
  }
}
