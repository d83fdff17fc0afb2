import { createHash } from 'node:crypto'
import bs58 from 'bs58'

/** A real node accepts a blockhash for 150 blocks; slots get shorter over the years, this number does not. */
export const BLOCKHASH_WINDOW = 150
/** The slot-hashes sysvar holds 512 entries; a cache of twice that never recomputes one. */
const CACHED = 1024

/**
 * The chain's blockhashes. Each is derived from the genesis hash and its slot, so nothing has to be stored for a
 * restart to accept the same hashes; to a client they are as opaque as real ones.
 */
export class Blockhashes {
  readonly #genesisHash: string
  readonly #cache = new Map<number, string>()

  constructor(genesisHash: string) {
    this.#genesisHash = genesisHash
  }

  at(slot: number): string {
    const known = this.#cache.get(slot)
    if (known !== undefined) return known
    const hash = bs58.encode(createHash('sha256').update(`${this.#genesisHash}:${slot}`).digest())
    if (this.#cache.size >= CACHED) this.#cache.clear()
    this.#cache.set(slot, hash)
    return hash
  }

  /** Whether a transaction that names this hash may still land in `slot`. */
  isValid(hash: string, slot: number): boolean {
    for (let age = 0; age <= BLOCKHASH_WINDOW; age++) if (this.at(slot - age) === hash) return true
    return false
  }
}
