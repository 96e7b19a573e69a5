// The meaning of an address: one row per special range of the IANA registries (RFC 6890 and its updates), plus the
// metadata addresses of clouds. An address is public only if no row names it and the registries have allocated it.

import { type Address, type Cidr, contains, parseAddress, parseCidr } from '../../common/ip-address.ts';

/** The kind of an address. Only `public` is allowed by default. */
export type AddressKind =
  | 'public'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link-local'
  | 'metadata'
  | 'documentation'
  | 'benchmark'
  | 'multicast'
  | 'broadcast'
  | 'tunnel'
  | 'reserved';

/** The classification of one address. */
export interface AddressClass {
  readonly family: 4 | 6;
  readonly kind: AddressKind;
  readonly address: Address;
  /** The IPv4 address inside an IPv6 one (mapped, translated, tunnelled). */
  readonly embedded?: Address;
  /** Whether the operating system connects to the embedded address itself (`::ffff:a.b.c.d`). */
  readonly mapped?: boolean;
}

interface AddressRange {
  readonly block: Cidr;
  readonly kind: AddressKind;
  /** Offset of an IPv4 address inside. Its own kind counts; `kind` is what a public one gets. */
  readonly embeds?: number;
}

const row = (cidr: string, kind: AddressKind, embeds?: number): AddressRange => ({
  block: parseCidr(cidr) as Cidr,
  kind,
  embeds,
});

// The first row that matches decides, so narrow rows are above wide ones.
const rows: readonly AddressRange[] = [
  row('169.254.169.254/32', 'metadata'), // AWS, Google, Azure, Oracle, DigitalOcean …
  row('169.254.169.253/32', 'metadata'), // AWS resolver
  row('169.254.170.2/32', 'metadata'), // AWS container credentials
  row('169.254.170.23/32', 'metadata'), // AWS pod identity
  row('100.100.100.200/32', 'metadata'), // Alibaba
  row('168.63.129.16/32', 'metadata'), // Azure platform, although in a public range
  row('192.0.0.192/32', 'metadata'), // Oracle, older
  row('0.0.0.0/8', 'unspecified'), // Linux connects 0.0.0.0 to itself
  row('10.0.0.0/8', 'private'),
  row('100.64.0.0/10', 'shared'),
  row('127.0.0.0/8', 'loopback'),
  row('169.254.0.0/16', 'link-local'),
  row('172.16.0.0/12', 'private'),
  row('192.0.0.0/24', 'reserved'),
  row('192.0.2.0/24', 'documentation'),
  row('192.88.99.0/24', 'tunnel'), // 6to4 relays
  row('192.168.0.0/16', 'private'),
  row('198.18.0.0/15', 'benchmark'),
  row('198.51.100.0/24', 'documentation'),
  row('203.0.113.0/24', 'documentation'),
  row('233.252.0.0/24', 'documentation'),
  row('224.0.0.0/4', 'multicast'),
  row('255.255.255.255/32', 'broadcast'),
  row('240.0.0.0/4', 'reserved'),
  row('0.0.0.0/0', 'public'),

  row('::/128', 'unspecified'),
  row('::1/128', 'loopback'),
  row('::ffff:0:0/96', 'public', 12), // IPv4-mapped: the kernel connects to the IPv4 address
  row('::ffff:0:0:0/96', 'tunnel', 12), // IPv4-translated (SIIT)
  row('::/96', 'reserved', 12), // IPv4-compatible, deprecated
  row('64:ff9b::/96', 'public', 12), // NAT64: the IPv4 internet as an IPv6-only network sees it
  row('64:ff9b:1::/48', 'private'), // NAT64 for local use: the network operator decides where it leads
  row('100::/64', 'reserved'), // discard
  row('100:0:0:1::/64', 'reserved'), // dummy prefix
  row('2001::/32', 'tunnel'), // Teredo
  row('2001:2::/48', 'benchmark'),
  row('2001:db8::/32', 'documentation'),
  row('2001::/23', 'reserved'), // protocol assignments: ORCHID, AMT, drone ids …
  row('2002::/16', 'tunnel', 2), // 6to4
  row('3fff::/20', 'documentation'),
  row('2000::/3', 'public'),
  row('fd00:ec2::/32', 'metadata'), // AWS over IPv6
  row('fd20:ce::254/128', 'metadata'), // Google over IPv6
  row('fc00::/7', 'private'),
  row('fe80::/10', 'link-local'),
  row('fec0::/10', 'private'), // site-local, deprecated but still routed by some
  row('ff00::/8', 'multicast'),
  row('::/0', 'reserved'), // not allocated, including 5f00::/16 (segment routing)
];

/** Classifies an address; `undefined` for text that is not an address in any form. */
export function classifyAddress(text: string): AddressClass | undefined {
  const address = parseAddress(text);
  return address === undefined ? undefined : classify(address);
}

/** Classifies a parsed address. */
export function classify(address: Address): AddressClass {
  const { family } = address;
  const { kind, embeds, block } = rows.find((candidate) => contains(candidate.block, address)) as AddressRange;
  if (embeds !== undefined) {
    const embedded: Address = { family: 4, bytes: address.bytes.slice(embeds, embeds + 4) };
    const inner = classify(embedded).kind;
    const mapped = block.bits === 96 && kind === 'public' && block.bytes[10] === 0xff;
    return { family, kind: inner === 'public' ? kind : inner, address, embedded, mapped };
  }
  // ISATAP embeds an IPv4 address in the lower half of any prefix.
  const marker = family === 6 && (address.bytes[8]! & 0xfd) === 0 && address.bytes[9] === 0;
  if (kind === 'public' && marker && address.bytes[10] === 0x5e && address.bytes[11] === 0xfe) {
    return { family, kind: 'tunnel', address, embedded: { family: 4, bytes: address.bytes.slice(12) } };
  }
  return { family, kind, address };
}
