import { isIP, isIPv4 } from 'node:net'

/**
 * The address that a call is counted for. With `trustedProxies` n, the n-th entry of X-Forwarded-For from the right: the one
 * that our outermost proxy wrote. What stands left of it is the caller's own word. Without n such entries the socket counts.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | null, trustedProxies: number): string {
  if (trustedProxies === 0 || forwardedFor === null) return plain(socketAddress)
  const hop = forwardedFor.split(',').at(-trustedProxies)?.trim() ?? ''
  return plain(isIP(hop) ? hop : socketAddress)
}

/** Who counts as one caller: an IPv4 address, or the /64 that one IPv6 subscriber has for himself. */
export function addressGroup(address: string): string {
  if (isIPv4(address) || isIP(address) === 0) return address
  return `${expand(address).slice(0, 4).join(':')}::/64`
}

/** IPv4 in IPv6's clothes, as a dual-stack socket shows it, is IPv4. */
function plain(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  return mapped ?? address
}

/** The eight groups of an IPv6 address, without leading zeros. */
function expand(address: string): string[] {
  const [bare = ''] = address.split('%')
  const [head = '', tail] = bare.split('::')
  const left = groups(head)
  if (tail === undefined) return left
  const right = groups(tail)
  return [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
}

function groups(text: string): string[] {
  if (text === '') return []
  return text.split(':').flatMap(group => {
    if (!group.includes('.')) return [Number.parseInt(group, 16).toString(16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
  })
}
