import bs58 from 'bs58'
import { invalidParams } from './rpc-error.ts'

export type Params = readonly unknown[]

export type Options = Record<string, unknown>

/** A base58 address of 32 bytes. */
export function addressAt(params: Params, index: number): string {
  return address(params[index])
}

export function address(value: unknown): string {
  return base58(value, 32, 'WrongSize')
}

export function signatureAt(params: Params, index: number): string {
  return base58(params[index], 64, 'WrongSize')
}

export function textAt(params: Params, index: number): string {
  const value = params[index]
  if (typeof value !== 'string') throw invalidParams(`expected a string at position ${index}`)
  return value
}

/** A whole number that a double holds exactly. */
export function integerAt(params: Params, index: number): number {
  const value = params[index]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams(`expected an unsigned integer at position ${index}`)
  }
  return value
}

export function listAt(params: Params, index: number, maxLength: number): unknown[] {
  const value = params[index]
  if (!Array.isArray(value)) throw invalidParams(`expected an array at position ${index}`)
  if (value.length > maxLength) throw invalidParams(`Too many inputs provided; max ${maxLength}`)
  return value
}

/** The trailing configuration object; absent and null are empty. */
export function optionsAt(params: Params, index: number): Options {
  const value = params[index] ?? {}
  if (!isOptions(value)) throw invalidParams(`expected an object at position ${index}`)
  return value
}

export function oneOf<T extends string>(value: unknown, allowed: readonly T[], fallback: T): T {
  if (value === undefined || value === null) return fallback
  const found = allowed.find(candidate => candidate === value)
  if (found === undefined) throw invalidParams(`unknown variant \`${value}\`, expected one of ${allowed.join(', ')}`)
  return found
}

export function optionalInteger(value: unknown): number | null {
  return value === undefined || value === null ? null : integerAt([value], 0)
}

export function isOptions(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function base58(value: unknown, size: number, wrongSize: string): string {
  if (typeof value !== 'string') throw invalidParams('expected a string')
  let length: number
  try {
    length = bs58.decode(value).length
  } catch {
    throw invalidParams('Invalid')
  }
  if (length !== size) throw invalidParams(wrongSize)
  return value
}
