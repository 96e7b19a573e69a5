// What `mooring doctor` reports about this machine, where one check depends on another.
import { expect, test } from 'vitest';
import type { ResolvedSettings } from '../../src/app/config/resolve.ts';
import { checkMachine } from '../../src/app/doctor/machine.ts';
import type { RedisSettings } from '../../src/app/settings/settings.ts';
import { settings } from '../support/settings.ts';

test('tasks are not checked while their Redis cannot be reached', { timeout: 60_000 }, async () => {
  // Nothing listens on this port.
  const redis = { url: 'redis://127.0.0.1:1' } as RedisSettings;
  const resolved = { settings: settings({ redis }), values: new Map() } as unknown as ResolvedSettings;
  const found = new Map<string, unknown>();
  for await (const { id, severity, detail } of checkMachine(resolved, false)) {
    found.set(id, { severity, detail });
    if (id === 'tasks') break;
  }
  expect(found.get('redis')).toMatchObject({ severity: 'error' });
  expect(found.get('tasks')).toMatchObject({ severity: 'warning', detail: expect.stringContaining('not checked') });
});
