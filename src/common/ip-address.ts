// IP addresses as bytes: parsing, CIDR blocks, containment. What an address means is in security/network/ranges.ts.
// Text is parsed by the URL parser of the platform, which also parses the URLs that are fetched: two parsers that disagree
// would allow bypasses. (For example, ipaddr.js parses ::1.2.3.4 as ::ffff:1.2.3.4.)

/** An address as bytes: 4 of them, or 16. */
export interface Address {
  readonly family: 4 | 6;
  readonly bytes: readonly number[];
}

/** A block of addresses. */
export interface Cidr extends Address {
  readonly bits: number;
}

/**
 * Parses an address in any form that a resolver or URL parser accepts: dotted, decimal (`2130706433`), octal
 * (`0177.1`), hexadecimal (`0x7f.1`), short forms, IPv6 with embedded IPv4, brackets, and zone ids. Accepting more here
 * is the safe direction: what is not recognized as an address would be looked up as a name.
 */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  return bare.includes(':') ? parseIPv6(bare) : parseIPv4(bare);
}

function parseIPv4(text: string): Address | undefined {
  // Only characters of numbers, so that no other part of a URL (a port, a path, a user) is parsed here.
  const host = /^[\da-fx.]+$/i.test(text) ? canonicalHost(text) : undefined;
  // A host that ends in a number is an IPv4 address or invalid, so this is the whole check.
  return host !== undefined && /^\d+(\.\d+){3}$/.test(host)
    ? { family: 4, bytes: host.split('.').map(Number) }
    : undefined;
}

function parseIPv6(text: string): Address | undefined {
  const zone = text.indexOf('%');
  const address = zone < 0 ? text : text.slice(0, zone);
  const host = /^[\da-f:.]+$/i.test(address) ? canonicalHost(`[${address}]`) : undefined;
  if (host === undefined) return undefined;
  // Canonical text has no dotted part and at most one `::`, which replaces all missing groups.
  const [head = '', tail] = host.slice(1, -1).split('::');
  const [left, right] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = new Array<string>(8 - left!.length - right!.length).fill('0');
  const groups = [...left!, ...zeros, ...right!].map((group) => Number.parseInt(group, 16));
  return { family: 6, bytes: groups.flatMap((group) => [group >> 8, group & 255]) };
}

function canonicalHost(host: string): string | undefined {
  return URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : undefined;
}

/** The usual text of an address: IPv6 in its short form, without brackets. */
export function formatAddress({ family, bytes }: Address): string {
  if (family === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[2 * at]! << 8) | bytes[2 * at + 1]!).toString(16));
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}

/** The bytes before the IPv4 address in `::ffff:192.0.2.1`, which is how a dual-stack socket reports an IPv4 client. */
const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** The IPv4 address in an IPv4-mapped IPv6 address; any other address as it is. */
export function unmapAddress(address: Address): Address {
  if (address.family === 4 || mappedPrefix.some((byte, at) => byte !== address.bytes[at])) return address;
  return { family: 4, bytes: address.bytes.slice(12) };
}

/** Parses `10.0.0.0/8`, `fd00::/8`, or a single address. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const full = address.bytes.length * 8;
  if (slash < 0) return { ...address, bits: full };
  const bits = text.slice(slash + 1);
  return /^\d{1,3}$/.test(bits) && Number(bits) <= full ? { ...address, bits: Number(bits) } : undefined;
}

/** Whether a block contains an address. Families never mix, unlike in `net.BlockList`. */
export function contains(block: Cidr, address: Address): boolean {
  if (block.family !== address.family) return false;
  return block.bytes.every((byte, index) => {
    const bits = Math.min(Math.max(block.bits - index * 8, 0), 8);
    return (byte ^ (address.bytes[index] as number)) >> (8 - bits) === 0;
  });
}
