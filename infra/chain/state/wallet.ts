import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'

export function wallet(secretKey: string): Keypair {
  return Keypair.fromSecretKey(bs58.decode(secretKey))
}

export function newSecretKey(): string {
  return bs58.encode(Keypair.generate().secretKey)
}
