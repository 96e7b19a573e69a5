import { expect, test } from 'vitest';
import { openRedis } from './index.ts';

/** Nothing listens there: what is wrong with the options is reported before a connection is tried. */
const url = 'redis://127.0.0.1:1';

test.each([
  [{ name: '' }, 'openRedis needs the name of the server'],
  [{ name: 'library', keys: 'k'.repeat(40) as never }, 'openRedis, keys: must be a list of keys'],
  [{ name: 'library', keys: ['a short key'] }, 'A seal key needs at least 32 characters'],
  [{ name: 'library', keys: [new Uint8Array(32)] }, 'This seal key is not random'],
])('%j is rejected', async (options, message) => {
  await expect(openRedis({ url, ...options })).rejects.toThrow(message);
});
