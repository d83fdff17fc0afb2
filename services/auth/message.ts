/** What the text to sign says. Times are ms epoch. */
export interface SignInText {
  /** Origin of the page that asks, such as `https://app.example`. */
  origin: string
  address: string
  chainId: string
  nonce: string
  issuedAtMs: number
  expiresAtMs: number
}

const STATEMENT = 'Sign in to use and top up your account. This costs nothing and sends no transaction.'

/** A Ledger shows what is below this many bytes of printable ASCII; longer texts need blind signing. */
export const MESSAGE_MAX_BYTES = 1_212
/** Keeps the longest message far below that limit: host and origin are in it once each. */
const ORIGIN_MAX_CHARS = 300

/**
 * The text to sign, as Sign-In With Solana lays it out (github.com/phantom/sign-in-with-solana): wallets that know it check
 * the first line against the page and warn. Printable ASCII and LF.
 */
export function signInMessage(text: SignInText): string {
  return `${new URL(text.origin).host} wants you to sign in with your Solana account:
${text.address}

${STATEMENT}

URI: ${text.origin}
Version: 1
Chain ID: ${text.chainId}
Nonce: ${text.nonce}
Issued At: ${new Date(text.issuedAtMs).toISOString()}
Expiration Time: ${new Date(text.expiresAtMs).toISOString()}`
}

/** Whether a text is an origin of a web page, written as browsers write it. */
export function isOrigin(text: string): boolean {
  if (text.length > ORIGIN_MAX_CHARS || !/^https?:\/\//.test(text)) return false
  return URL.canParse(text) && new URL(text).origin === text
}

/** The chain id that SIWS knows a cluster by. */
export function chainIdOf(network: string): string {
  return network === 'mainnet-beta' ? 'mainnet' : network
}
