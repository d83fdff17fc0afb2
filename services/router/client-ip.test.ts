import { expect, test } from 'bun:test'
import { addressGroup, clientAddress } from './client-ip.ts'

test('a header alone is never believed', () => {
  expect(clientAddress('198.51.100.7', '203.0.113.9', 0)).toBe('198.51.100.7')
})

test('with n proxies of ours the n-th entry from the right counts, whatever the caller wrote before it', () => {
  const cases: [forwardedFor: string | null, trusted: number, expected: string][] = [
    ['203.0.113.9', 1, '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9', 1, '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
    ['1.1.1.1,2.2.2.2,203.0.113.9 ,10.0.0.2', 2, '203.0.113.9'],
    ['2001:db8::1', 1, '2001:db8::1'],
    // Fewer entries than proxies, or no address: somebody went round them.
    ['203.0.113.9', 2, '198.51.100.7'],
    ['unknown', 1, '198.51.100.7'],
    ['', 1, '198.51.100.7'],
    [null, 1, '198.51.100.7'],
    ['203.0.113.9:443', 1, '198.51.100.7'],
  ]
  for (const [forwardedFor, trusted, expected] of cases) {
    expect(clientAddress('198.51.100.7', forwardedFor, trusted), `${forwardedFor} ${trusted}`).toBe(expected)
  }
})

test('IPv4 counts by address, also in IPv6’s clothes', () => {
  expect(clientAddress('::ffff:198.51.100.7', null, 0)).toBe('198.51.100.7')
  expect(addressGroup('198.51.100.7')).toBe('198.51.100.7')
})

test('an IPv6 subscriber’s 2^64 addresses are one caller, and his neighbour is another', () => {
  expect(addressGroup('2001:db8:1:2::1')).toBe(addressGroup('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  expect(addressGroup('2001:0db8:0001:0002::1')).toBe(addressGroup('2001:db8:1:2::2'))
  expect(addressGroup('2001:db8:1:2::1')).not.toBe(addressGroup('2001:db8:1:3::1'))
  expect(addressGroup('2001:db8::1')).toBe('2001:db8:0:0::/64')
  expect(addressGroup('::1')).toBe('0:0:0:0::/64')
  expect(addressGroup('64:ff9b::198.51.100.7')).toBe('64:ff9b:0:0::/64')
  expect(addressGroup('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
})
