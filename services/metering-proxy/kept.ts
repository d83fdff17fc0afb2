import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Records } from '@tollgate/bus'
import type { Seal } from './sealing.ts'

/** What is known of a request that carries an idempotency key. */
const Claim = Type.Object({
  v: Type.Literal(1),
  /** `lost`: it was charged, and its answer could not be kept. */
  state: Type.Union([Type.Literal('running'), Type.Literal('done'), Type.Literal('lost')]),
  fingerprint: Type.String(),
  /** The request that runs, or ran. */
  owner: Type.String(),
  /** Of the answer. */
  contentType: Type.String(),
  parts: Type.Integer({ minimum: 0 }),
})
export type Claim = Static<typeof Claim>

export interface KnownClaim extends Claim {
  readonly revision: number
}

/** Parts stay below a message's 1 MB. */
const PART_BYTES = 512 * 1024
/** Answers up to here are kept; a longer one is lost to a repeat. */
export const KEPT_BYTES_MAX = 8 * 1024 * 1024

/** The claims and the answers of one repeat, sealed, for as long as the bucket keeps them. */
export interface Kept {
  claim(claim: Claim): Promise<number | null>
  known(): Promise<KnownClaim | null>
  /** Null when another request changed the claim. */
  change(claim: Claim, revision: number): Promise<number | null>
  forget(revision: number): Promise<void>
  /** Keeps an answer of this owner; returns its number of parts. */
  keep(owner: string, answer: Uint8Array): Promise<number>
  answer(claim: Claim): Promise<Uint8Array>
}

export function keptFor(records: Records, seal: Seal): Kept {
  const { name } = seal
  const claimPlace = `${name}.claim`
  const partPlace = (owner: string, part: number) => `${name}.${owner}.${part}`
  const sealed = (claim: Claim) => seal.seal(Buffer.from(JSON.stringify(claim)), claimPlace)

  return {
    claim: claim => records.create(claimPlace, sealed(claim)),
    change: (claim, revision) => records.replace(claimPlace, sealed(claim), revision),
    forget: revision => records.remove(claimPlace, revision),
    async known() {
      const entry = await records.read(claimPlace)
      if (!entry) return null
      const claim: unknown = JSON.parse(Buffer.from(seal.open(entry.value, claimPlace)).toString())
      if (!checkClaim.Check(claim)) throw new Error('a kept claim has another shape')
      return { ...claim, revision: entry.revision }
    },
    async keep(owner, answer) {
      const parts = Math.ceil(answer.length / PART_BYTES)
      for (let part = 0; part < parts; part++) {
        const place = partPlace(owner, part)
        await records.create(place, seal.seal(answer.subarray(part * PART_BYTES, (part + 1) * PART_BYTES), place))
      }
      return parts
    },
    async answer({ owner, parts }) {
      const places = Array.from({ length: parts }, (_, part) => partPlace(owner, part))
      const read = places.map(async place => {
        const entry = await records.read(place)
        if (!entry) throw new Error('a part of a kept answer is gone')
        return seal.open(entry.value, place)
      })
      return Buffer.concat(await Promise.all(read))
    },
  }
}

const checkClaim = TypeCompiler.Compile(Claim)
