// The note about views that no caller can use: "allow" is about callers, and without authentication a gateway knows none.

import type { ConfigNote } from '../../../gateway/config/decode-upstream.ts';
import { defaultViewName } from '../../../gateway/config/defaults.ts';
import type { GatewayConfig } from '../../../gateway/config/gateway-config.ts';

/** For a gateway without authentication. */
export function notesOnViewAccess({ defaultView, views }: GatewayConfig): readonly ConfigNote[] {
  return [defaultView, ...views].flatMap(({ name, allow }): ConfigNote[] => {
    if (allow === undefined) return [];
    const shown = name === '' ? defaultViewName : name;
    const text =
      `view ${shown}: because of its "allow", it is empty for all callers while the gateway has no authentication ` +
      '(--http with --token, --token-file or --auth-issuer)';
    return [{ level: 'warning', text }];
  });
}
