// Which clients are behind reverse proxies. Any client can send X-Forwarded-For, so the header says something only where a
// trusted proxy sent it, and only as far as trusted proxies have added to it.

import {
  type Address,
  type Cidr,
  contains,
  formatAddress,
  parseAddress,
  parseCidr,
  unmapAddress,
} from '../../common/ip-address.ts';

const loopback = ['127.0.0.0/8', '::1'];

export class TrustedProxies {
  readonly #blocks: readonly Cidr[];

  /** `listed`: addresses, ranges in CIDR form, and `loopback`. They were checked with `isProxyRange`. */
  constructor(listed: readonly string[]) {
    this.#blocks = listed
      .flatMap((each) => (each === 'loopback' ? loopback : [each]))
      .map((each) => unmapBlock(parseCidr(each) as Cidr));
  }

  /** Whether an address, as a socket reports it, is that of a trusted proxy. */
  includes(address: string | undefined): boolean {
    const parsed = address === undefined ? undefined : parseAddress(address);
    return parsed !== undefined && this.#contains(unmapAddress(parsed));
  }

  /**
   * The client of a request that a trusted proxy sent. Each proxy adds the address it was connected from at the end, so this is the
   * right-most address that is not a trusted proxy; what is left of it was sent by the client itself. If all are trusted, the
   * left-most one. An entry that is not an address ends the search: what is left of it cannot be attributed.
   */
  clientOf(proxy: string, forwardedFor: string | undefined): string {
    let client = proxy;
    if (forwardedFor === undefined) return client;
    for (const entry of forwardedFor.split(',').reverse()) {
      const address = addressIn(entry.trim());
      if (address === undefined) break;
      client = formatAddress(address);
      if (!this.#contains(address)) break;
    }
    return client;
  }

  #contains(address: Address): boolean {
    return this.#blocks.some((block) => contains(block, address));
  }
}

/** True for what may be listed: an address, a range in CIDR form, or `loopback`. */
export function isProxyRange(text: string): boolean {
  return text === 'loopback' || (isUsualForm(text.replace(/\/\d+$/, '')) && parseCidr(text) !== undefined);
}

/** The address in an entry of the header. Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressIn(entry: string): Address | undefined {
  const [, bare = entry] = /^(\[[^\]]+\]|[\d.]+):\d{1,5}$/.exec(entry) ?? [];
  const address = isUsualForm(bare) ? parseAddress(bare) : undefined;
  return address === undefined ? undefined : unmapAddress(address);
}

/** Not `10`, which is 0.0.0.10 in a URL, and not `010.0.0.1`, which is 8.0.0.1 there. */
function isUsualForm(text: string): boolean {
  return text.includes(':') || /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text);
}

/** `::ffff:10.0.0.0/104` is `10.0.0.0/8`: the addresses that are looked up are unmapped. */
function unmapBlock(block: Cidr): Cidr {
  const unmapped = unmapAddress(block);
  return unmapped.family === block.family || block.bits < 96 ? block : { ...unmapped, bits: block.bits - 96 };
}
