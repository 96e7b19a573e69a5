import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { importServers } from './import-servers.ts';

test('secrets of variables and headers are imported as they are written', async () => {
  const file = join(temporaryFolder(), 'mcp.json');
  const mcpServers = {
    local: { command: 'x', env: { A: '1', KEY: { secret: 'key' } } },
    far: { url: 'https://x.example/mcp', headers: { Authorization: { secret: 'token' } } },
  };
  writeFileSync(file, JSON.stringify({ mcpServers }), { mode: 0o600 });
  expect((await importServers('cursor', 'user', file)).servers).toEqual(mcpServers);
});
