// The note about servers that need the tokens of callers, where callers have none.

import type { ConfigNote } from '../../../gateway/config/decode-upstream.ts';
import type { GatewayConfig } from '../../../gateway/config/gateway-config.ts';

/** For a gateway whose callers have no tokens of an authorization server. */
export function notesOnCallerTokens({ servers }: Pick<GatewayConfig, 'servers'>): readonly ConfigNote[] {
  return servers.flatMap(({ slug, disabled, auth }): ConfigNote[] => {
    if (disabled || auth.kind !== 'token-exchange') return [];
    const text = `${slug}: callers can use it only if they send tokens of an authorization server: start the gateway with --http and --auth-issuer`;
    return [{ level: 'warning', text }];
  });
}
