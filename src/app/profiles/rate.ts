// Rate limits of a profile, and how the configuration changes them.

import type { Server } from '../../engine/server.ts';
import { type RateRule, rateLimit } from '../../security/limits/index.ts';
import type { Settings } from '../settings/settings.ts';
import { packOptions } from './pack-options.ts';

const schema = {
  type: 'object',
  properties: {
    requests: { type: 'integer', minimum: 1 },
    windowMs: { type: 'integer', minimum: 1 },
    burst: { type: 'integer', minimum: 1 },
  },
  additionalProperties: false,
} as const;

/** Applies the profile's rate limits to every request; `packs.limits` in the configuration changes the first rule. */
export async function limitRate(
  server: Server,
  settings: Settings,
  rules: readonly [RateRule, ...RateRule[]],
): Promise<void> {
  const departure = await packOptions<RateRule>(settings, 'limits', schema);
  const [first, ...rest] = rules;
  // If only the number of requests is changed, the burst follows it.
  const burst = departure.requests === undefined ? {} : { burst: departure.requests };
  server.around(
    rateLimit([{ ...first, ...burst, ...departure }, ...rest], {
      isKnown: (name) => server.isRegistered('tools', name),
    }),
  );
}
