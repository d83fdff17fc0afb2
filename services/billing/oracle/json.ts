/** A JSON number by its text: a double would lose digits of prices that are tiny or long. */
export class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Parses JSON with every number kept as its text. */
export function parseExact(json: string): unknown {
  // The third argument is ES2025's source text access, which the type library lacks.
  const keepText = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? new NumberText(context.source) : value
  return JSON.parse(json, keepText)
}

/** The value at a path of fields and indexes; undefined where there is none. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, step) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, step) : undefined),
    value,
  )
}

/** The text of a number, given as a JSON number or as a string (some sources quote theirs). */
export function numberText(value: unknown): string | null {
  if (value instanceof NumberText) return value.text
  return typeof value === 'string' ? value : null
}
