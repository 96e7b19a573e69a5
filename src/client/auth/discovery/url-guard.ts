// Which URLs the authorization code may talk to. An untrusted server names most of them, so each is parsed,
// must be https (http on loopback only), and may not lead deeper into our network than the server itself is.
// Host names are checked as text; resolving and pinning them is up to the injected fetch.
import { BlockList, isIP } from 'node:net';
import { authErrors } from '../errors.ts';

/** Switches for test environments; both are off by default. */
export interface UrlGuardOptions {
  /** Accept plain http to hosts other than loopback. Tokens then travel in the clear. */
  readonly allowInsecureHttp?: boolean;
  /** Let a public server point to private or loopback addresses. */
  readonly allowPrivateNetwork?: boolean;
}

/** Checks URLs on behalf of one MCP server. */
export interface UrlGuard {
  readonly server: URL;
  /** The parsed URL, or an `AuthError` that names `what` it should have been. */
  check(what: string, url: unknown): URL;
  /** A place a server redirects to: as `check`, and never from https back to http. */
  checkRedirect(what: string, from: URL, location: string): URL;
}

/** Creates the guard for an MCP server; the server's own URL is checked first. */
export function createUrlGuard(server: string | URL, options: UrlGuardOptions = {}): UrlGuard {
  const home = parse('the MCP server URL', overHttp(server));
  requireSafeScheme('the MCP server URL', home, options);
  home.hash = '';
  const allowed = depthOf(home.hostname);

  const check = (what: string, value: unknown): URL => {
    const url = parse(what, value);
    requireSafeScheme(what, url, options);
    const depth = depthOf(url.hostname);
    const closer = depth > allowed || depth === linkLocal;
    if (closer && url.hostname !== home.hostname && !options.allowPrivateNetwork) {
      throw authErrors.privateAddress(what, url.href);
    }
    return url;
  };
  return {
    server: home,
    check,
    checkRedirect(what, from, location) {
      const url = check(what, URL.canParse(location, from) ? new URL(location, from).href : location);
      if (from.protocol === 'https:' && url.protocol === 'http:') {
        throw authErrors.insecureUrl(what, url.href, 'a redirect may not leave https');
      }
      return url;
    },
  };
}

/** A WebSocket begins as an HTTP request to the same host, and its authorization is that of the request. */
export function overHttp(url: string | URL): string {
  return String(url).replace(/^ws(s?):/i, 'http$1:');
}

/** Whether a host is this machine: `localhost`, a name below it, 127.0.0.0/8 or ::1. */
export function isLoopback(hostname: string): boolean {
  return depthOf(hostname) === loopback;
}

const outside = 0;
const privateNetwork = 1;
const loopback = 2;
const linkLocal = 3;

function parse(what: string, value: unknown): URL {
  if (typeof value !== 'string' || !URL.canParse(value)) {
    throw authErrors.insecureUrl(what, String(value), 'it is not an absolute URL');
  }
  const url = new URL(value);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw authErrors.insecureUrl(what, value, 'only https, and http on loopback, are allowed');
  }
  if (url.username !== '' || url.password !== '') {
    throw authErrors.insecureUrl(what, url.origin, 'it contains a user name or password');
  }
  return url;
}

function requireSafeScheme(what: string, url: URL, options: UrlGuardOptions): void {
  if (url.protocol === 'https:' || isLoopback(url.hostname) || options.allowInsecureHttp) return;
  throw authErrors.insecureUrl(what, url.href, 'plain http is allowed on loopback only');
}

/** How close to this machine an address is. WHATWG parsing has already normalized octal, hex and decimal forms. */
function depthOf(hostname: string): number {
  const host = hostname.toLowerCase().replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return loopback;
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  const family = isIP(address);
  if (family === 0) return outside;
  for (const [depth, ranges] of networks()) {
    if (ranges.check(address, family === 4 ? 'ipv4' : 'ipv6')) return depth;
  }
  return outside;
}

// BlockList also matches IPv4-mapped IPv6 addresses against the IPv4 ranges.
let table: [number, BlockList][] | undefined;
function networks(): [number, BlockList][] {
  table ??= [
    [loopback, ranges(['127.0.0.0', 8], ['::1', 128])],
    [
      linkLocal,
      ranges(['0.0.0.0', 8], ['169.254.0.0', 16], ['224.0.0.0', 3], ['::', 128], ['fe80::', 10], ['ff00::', 8]),
    ],
    [
      privateNetwork,
      ranges(
        ['10.0.0.0', 8],
        ['100.64.0.0', 10],
        ['172.16.0.0', 12],
        ['192.168.0.0', 16],
        ['192.0.0.0', 24],
        ['198.18.0.0', 15],
        ['fc00::', 7],
        ['64:ff9b::', 96], // NAT64 and 6to4 can wrap any of the above.
        ['2002::', 16],
      ),
    ],
  ];
  return table;
}

function ranges(...entries: [string, number][]): BlockList {
  const blocks = new BlockList();
  for (const [network, prefix] of entries) {
    blocks.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4');
  }
  return blocks;
}
