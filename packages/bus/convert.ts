import { Kind, type TObject, TransformKind, type TSchema, type TUnion } from '@sinclair/typebox'
import { HasTransform } from '@sinclair/typebox/value'

/** From the wire's value to the code's (`Decode`: integers become bigints), or back. */
export type Way = 'Decode' | 'Encode'
type Convert = (value: unknown) => unknown

/**
 * A schema's transforms as one function that visits only the places that have one; null when none has. The library's own
 * walks the whole schema for every value, which costs some times what the check does. Nothing is checked here: a value that does not
 * fit passes through, and whoever converts checks the side of the wire.
 */
export function converterOf(schema: TSchema, way: Way): Convert | null {
  if (TransformKind in schema) return (schema[TransformKind] as Record<Way, Convert>)[way]
  if (!HasTransform(schema, [])) return null
  switch (schema[Kind]) {
    case 'Object':
      return ofObject(schema as TObject, way)
    case 'Union':
      return ofUnion(schema as TUnion, way)
    case 'Array': {
      const item = converterOf(schema.items, way) ?? same
      return value => (Array.isArray(value) ? value.map(each => item(each)) : value)
    }
    default:
      throw new Error(`a ${schema[Kind]} with transforms inside is not known to the bus`)
  }
}

const same: Convert = value => value

function ofObject({ properties }: TObject, way: Way): Convert {
  const places = Object.entries(properties).flatMap(([name, property]) => {
    const convert = converterOf(property, way)
    return convert ? [{ name, convert }] : []
  })
  return value => {
    if (!isFields(value)) return value
    const converted = { ...value }
    for (const { name, convert } of places) {
      if (converted[name] !== undefined) converted[name] = convert(converted[name])
    }
    return converted
  }
}

function ofUnion({ anyOf }: TUnion, way: Way): Convert {
  const variants = anyOf.map(variant => ({ looksLike: looks(variant), convert: converterOf(variant, way) ?? same }))
  return value => variants.find(({ looksLike }) => looksLike(value))?.convert(value) ?? value
}

/** What tells the variants of a union apart: null, or the literals of an object. */
function looks(variant: TSchema): (value: unknown) => boolean {
  if (variant[Kind] === 'Null') return value => value === null
  if (variant[Kind] !== 'Object') return value => value !== null
  const tags = Object.entries((variant as TObject).properties).filter(([, property]) => 'const' in property)
  return value => isFields(value) && tags.every(([name, property]) => value[name] === property.const)
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
