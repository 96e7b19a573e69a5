// Addresses without encryption: which are on this machine or in its local network, and whether tokens may be sent to them.

import { BlockList, isIP } from 'node:net';
import { UsageError } from '../usage-error.ts';

/** Where an unencrypted address leads; undefined for an encrypted one. */
export type PlainReach = 'loopback' | 'local-network' | 'public';

/** Where http: and ws: URLs lead. Only the text of the host counts: names are not resolved. */
export function plainReach(url: string): PlainReach | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'ws:') return undefined;
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const family = isIP(host);
  if (family === 0) {
    if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback';
    return host.endsWith('.local') || !host.includes('.') ? 'local-network' : 'public';
  }
  const type = family === 4 ? 'ipv4' : 'ipv6';
  if (loopback.check(host, type)) return 'loopback';
  return localNetwork.check(host, type) ? 'local-network' : 'public';
}

/**
 * Tokens over plain HTTP can be read and used by anyone on the path, so they are sent only to this machine, or to a
 * host for which the user has allowed it.
 */
export function requireSafeCredentials(url: string, hasCredentials: boolean, allowed: boolean): void {
  const reach = plainReach(url);
  if (!hasCredentials || allowed || reach === undefined || reach === 'loopback') return;
  throw new UsageError(
    `The token is not sent to ${new URL(url).origin}, because the connection is not encrypted.\n` +
      'Use https, or add --insecure-http to send it even though others on the network can read it',
  );
}

const loopback = blockList(['127.0.0.0', 8], ['::1', 128]);
const localNetwork = blockList(
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['fc00::', 7],
    ['fe80::', 10],
  ] as const),
);

function blockList(...subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}
