import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseDecimal, writeDecimal } from './decimal.ts'
import { microFor, paymentUrl, tokenRawFor } from './quote.ts'

const price = (text: string) => parseDecimal(text, 18) ?? 0n

describe('decimals', () => {
  test.each([
    ['0.4056018512541055', 18, 405601851254105500n],
    ['1e-7', 18, 100_000_000_000n],
    ['1.5E+3', 6, 1_500_000_000n],
    ['0.0000001', 6, 0n],
    ['12', 0, 12n],
  ])('%s at scale %i is %p', (text, scale, value) => {
    expect(parseDecimal(text, scale)).toBe(value)
  })

  test.each(['', '-1', '+1', '.5', '1.', 'NaN', 'Infinity', '0x10', '1 ', '1e', '1,5'])('%p is no decimal', text => {
    expect(parseDecimal(text, 6)).toBeNull()
  })

  test('what is written is read back exactly, without needless zeros', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 90n }), fc.integer({ min: 0, max: 18 }), (value, scale) => {
        const text = writeDecimal(value, scale)
        expect(parseDecimal(text, scale)).toBe(value)
        expect(text).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
      }),
    )
  })
})

describe('a quote', () => {
  test.each([
    // usdMicro, price, decimals, tokenRaw
    [10_000_000n, '0.4056018512541055', 6, 24_654_720n],
    [10_000_000n, '0.5', 6, 20_000_000n],
    [10_000_000n, '1', 0, 10n],
    [1_000_000n, '3', 0, 1n],
    [10_000_000n, '0.00000000123', 9, 8_130_081_300_813_008_131n],
    [1_000_001n, '1', 6, 1_000_001n],
  ])('of %p micro-USD at %s with %i decimals is %p', (usdMicro, text, decimals, tokenRaw) => {
    expect(tokenRawFor(usdMicro, { priceScaled: price(text), decimals })).toBe(tokenRaw)
  })

  test('that no token account could hold is none', () => {
    expect(tokenRawFor(10n ** 12n, { priceScaled: 1n, decimals: 9 })).toBeNull()
  })

  test('asks for enough, and for no unit more than that', () => {
    const usd = fc.bigInt({ min: 1_000_000n, max: 10n ** 11n })
    const priceScaled = fc.bigInt({ min: 10n ** 9n, max: 10n ** 24n })
    fc.assert(
      fc.property(usd, priceScaled, fc.integer({ min: 0, max: 9 }), (usdMicro, scaled, decimals) => {
        const rate = { priceScaled: scaled, decimals }
        const tokenRaw = tokenRawFor(usdMicro, rate)
        if (tokenRaw === null) return
        expect(microFor(tokenRaw, rate)).toBeGreaterThanOrEqual(usdMicro)
        expect(microFor(tokenRaw - 1n, rate)).toBeLessThan(usdMicro)
      }),
    )
  })
})

describe('the payment url', () => {
  const request = { recipient: 'R', mint: 'M', reference: 'F', tokenRaw: 1_234_567_123_456n, decimals: 6 }

  test('has the recipient, and the amount in plain digits', () => {
    expect(paymentUrl(request)).toBe('solana:R?spl-token=M&amount=1234567.123456&reference=F')
    expect(paymentUrl({ ...request, tokenRaw: 1n, decimals: 9 })).toContain('amount=0.000000001&')
    expect(paymentUrl({ ...request, tokenRaw: 10n ** 21n, decimals: 0 })).toContain('amount=1000000000000000000000&')
  })

  test('carries texts only when there are some, with %20', () => {
    expect(paymentUrl({ ...request, label: '', message: '' })).not.toContain('label')
    expect(paymentUrl({ ...request, label: 'Toll & gate', message: 'a b' })).toEndWith(
      '&label=Toll%20%26%20gate&message=a%20b',
    )
  })
})
