// How often clients may come, where a profile limits it; and how a configuration departs from what the profile says.

import type { Server } from '../../engine/server.ts';
import { type RateRule, rateLimit } from '../../security/limits/index.ts';
import type { Settings } from '../settings.ts';
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

/** Puts the profile's rate limits around every request; `packs.limits` of the configuration changes the first rule. */
export async function limitRate(
  server: Server,
  settings: Settings,
  rules: readonly [RateRule, ...RateRule[]],
): Promise<void> {
  const departure = await packOptions<RateRule>(settings, 'limits', schema);
  const [first, ...rest] = rules;
  // A new number of requests brings its own burst, unless that is said as well.
  const burst = departure.requests === undefined ? {} : { burst: departure.requests };
  const { tools } = server.catalog;
  server.around(rateLimit([{ ...first, ...burst, ...departure }, ...rest], { isKnown: (name) => tools.has(name) }));
}
