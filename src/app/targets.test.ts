import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { findTarget } from './targets.ts';

afterEach(() => void vi.unstubAllEnvs());

function written(entry: object): string {
  const file = join(temporaryFolder(), 'servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { one: entry } }), { mode: 0o600 });
  return file;
}

test('a client command finds the secrets of an entry in the environment, and uses them as they are', async () => {
  const file = written({ url: 'https://x.example/mcp', headers: { A: { secret: 'api-key' }, B: `\${OTHER}` } });
  vi.stubEnv('OTHER', 'b');
  await expect(findTarget('one', file)).rejects.toThrow(/one needs the secret api-key, .* MOORING_SECRET_API_KEY,/);
  vi.stubEnv('MOORING_SECRET_API_KEY', `a\${OTHER}`);
  expect(await findTarget('one', file)).toMatchObject({ target: { headers: { A: `a\${OTHER}`, B: 'b' } } });
});

test('a value of an entry that is not text is an error, not left out', async () => {
  await expect(findTarget('one', written({ command: 'x', env: { K: {} } }))).rejects.toThrow(
    'one.env.K: must be a string',
  );
});
