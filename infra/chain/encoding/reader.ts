import bs58 from 'bs58'

const NO_ADDRESS = '11111111111111111111111111111111'

/** Reads little-endian fields one after another; running out of bytes throws a RangeError. */
export class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  bytes(length: number): Uint8Array {
    if (length > this.remaining) throw new RangeError(`${length} bytes wanted, ${this.remaining} left`)
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1))
  }

  bool(): boolean {
    return this.u8() !== 0
  }

  u16(): number {
    return this.#view.getUint16(this.#skip(2), true)
  }

  i16(): number {
    return this.#view.getInt16(this.#skip(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4), true)
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#skip(8), true)
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#skip(8), true)
  }

  f64(): number {
    return this.#view.getFloat64(this.#skip(8), true)
  }

  address(): string {
    return bs58.encode(this.bytes(32))
  }

  /** Token-2022's extensions write "none" as 32 zero bytes. */
  optionalAddress(): string | null {
    const address = this.address()
    return address === NO_ADDRESS ? null : address
  }

  /** The token program's account layout: a u32 flag, then the value whether it is set or not. */
  coption<T>(read: () => T): T | null {
    const present = this.u32() === 1
    const value = read()
    return present ? value : null
  }

  /** The token program's instruction layout: a u8 flag, and the value only when it is set. */
  option<T>(read: () => T): T | null {
    return this.bool() ? read() : null
  }

  /** UTF-8 after a u32 length (Borsh). */
  text(): string {
    return new TextDecoder().decode(this.bytes(this.u32()))
  }

  #skip(length: number): number {
    const at = this.#at
    this.#at += length
    return at
  }
}
