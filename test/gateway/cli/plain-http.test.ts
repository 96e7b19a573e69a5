// Servers at addresses without encryption: those of the local network are used as their users expect, and get no tokens.

import { expect, test } from 'vitest';
import { useClosers } from '../../support/closers.ts';
import { useHome } from '../../support/program.ts';
import { httpUpstream } from '../http-upstream.ts';
import { connectStdio, runtimeOf, textOf, toolNames, writeConfig } from './support.ts';

const home = useHome();
const closers = useClosers();

const run = (...args: string[]) => home.run(['gateway', ...args], { env: runtimeOf(home) });

// 0.0.0.0 counts as the local network, and leads to this machine.
test.skipIf(process.platform === 'win32')('a server in the local network needs no "auth" to be used', async () => {
  const server = await httpUpstream(closers);
  const config = writeConfig(home, { mcpServers: { lan: { url: server.url.replace('127.0.0.1', '0.0.0.0') } } });
  const client = await connectStdio(home, ['--config', config]);
  closers.push(() => client.close());
  expect(await toolNames(client)).toEqual(['lan__work']);
  expect(textOf(await client.callTool('lan__work', {}))).toBe('done');
});

test('check says where others can read what is sent, and that no token goes there', async () => {
  const config = writeConfig(home, {
    mcpServers: {
      lan: { url: 'http://192.168.1.5:8000/mcp' },
      far: { url: 'http://far.example/mcp' },
      off: { url: 'http://off.example/mcp', disabled: true },
      keyed: { url: 'http://192.168.1.5:8000/mcp', headers: { 'X-Key': '1' } },
      here: { url: 'http://localhost:8000/mcp' },
    },
  });
  const { code, stderr } = await run('check', '--config', config);
  expect(code).toBe(0);
  expect(stderr.trim().split('\n')).toEqual([
    'warning: lan: the connection to 192.168.1.5:8000 is not encrypted: others on the network can read and change what is sent, and you cannot sign in there',
    'warning: far: the connection to far.example is not encrypted, and tokens are not sent there: use https, or "mooring": { "auth": { "kind": "none" } } if it needs no token',
  ]);
  expect(await run('login', 'lan', '--config', config)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('You cannot sign in to lan: the connection to 192.168.1.5:8000 is not encrypted'),
  });
});
