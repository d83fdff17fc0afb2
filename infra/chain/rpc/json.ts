/** Turns text into a raw JSON number (ES2026); TypeScript's library does not declare it yet. */
declare global {
  interface JSON {
    rawJSON(text: string): unknown
  }
}

/** JSON with bigints as plain numbers of any size, the way nodes write u64. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item))
}
