/** What the simulated model says, over and over: pieces of about a token each. */
const STORY =
  'The river keeps its own accounts. Every morning it takes the light in, small coins of it, and every evening it pays ' +
  'them out again along the far bank. Nobody has ever found it short. A ferryman once tried to cheat it of a minute; he ' +
  'waited on the other side for the minute to pass, and it never did. '

const storyPieces = piecesOf(STORY)

/** Splits text into pieces of a word and its space: what the simulation counts as a token. */
export function piecesOf(text: string): string[] {
  return text.match(/\s*\S+\s?|\s+/g) ?? []
}

/** `count` pieces of the story. */
export function story(count: number): string[] {
  return Array.from({ length: count }, (_, index) => storyPieces[index % storyPieces.length] ?? '')
}

const CHARS_PER_TOKEN = 4

/** Tokens of a prompt text: four characters each, as providers tell their customers to reckon. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN)
}
