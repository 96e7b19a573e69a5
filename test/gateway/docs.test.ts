// The reference names every key that the gateway reads.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaults } from '../../src/gateway/config/defaults.ts';
import { gatewaySchema, upstreamSchema } from '../../src/gateway/config/schema.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/gateway.md'), 'utf8');

test.each([
  ['mooring', upstreamSchema.properties],
  ['auth', upstreamSchema.properties.auth.properties],
  ['override', upstreamSchema.properties.override.additionalProperties.properties],
  ['gateway', gatewaySchema.properties],
  ['views', gatewaySchema.properties.views.additionalProperties.properties],
])('every key of %s is in the reference', (_what, properties) => {
  expect(Object.keys(properties).filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
});

test('the defaults in the reference are those of the program', () => {
  const rows = new Map([...page.matchAll(/^\| `(\w+)` \| `?([\w]+)`? \|/gm)].map(([, key, value]) => [key, value]));
  for (const [key, value] of Object.entries(defaults)) {
    if (typeof value === 'object' || rows.get(key) === undefined) continue;
    expect(rows.get(key), key).toBe(String(value));
  }
});
