import { isFields } from './asked.ts'

const DEPTH_MAX = 8

/** A value that fits a JSON schema, roughly: what a model asked for structured output would answer. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isFields(schema) || depth > DEPTH_MAX) return {}
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) return sampleOf(alternatives[0], depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'string') return 'river'
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 7
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'array') return [sampleOf(schema.items, depth + 1)]
  const properties = isFields(schema.properties) ? schema.properties : {}
  return Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, sampleOf(part, depth + 1)]))
}
