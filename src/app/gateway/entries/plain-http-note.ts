// The note about a server whose address is not encrypted, so that tokens are not sent to it.

import type { ConfigNote } from '../../../gateway/config/decode-upstream.ts';
import type { UpstreamConfig } from '../../../gateway/config/gateway-config.ts';
import { plainReach } from '../../auth/plain-http.ts';

const kindsWithTokens: ReadonlySet<UpstreamConfig['auth']['kind']> = new Set([
  'oauth',
  'client-credentials',
  'token-exchange',
]);

/** What a user should know of an address without encryption, to which no token is sent. */
export function noteOnPlainHttp({ slug, disabled, auth, entry }: UpstreamConfig): ConfigNote | undefined {
  const { url } = entry;
  if (disabled || url === undefined || !kindsWithTokens.has(auth.kind)) return undefined;
  const reach = plainReach(url);
  if (reach === undefined || reach === 'loopback') return undefined;
  const { host } = new URL(url);
  const text =
    reach === 'local-network' && auth.kind === 'oauth'
      ? `${slug}: the connection to ${host} is not encrypted: others on the network can read and change what is sent, and you cannot sign in there`
      : `${slug}: the connection to ${host} is not encrypted, and tokens are not sent there: use https, or "mooring": { "auth": { "kind": "none" } } if it needs no token`;
  return { level: 'warning', text };
}
