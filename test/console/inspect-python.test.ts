// `mooring inspect` on a server in Python, with the official SDK from PyPI.

import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CallStarted, ConsoleState, Lists, Validated } from '../../src/console/api.ts';
import { useHome } from '../support/program.ts';
import { ensurePython } from '../support/python.ts';
import { endOf, startConsole } from './program.ts';

const python = ensurePython('mcp>=2,<3');
const file = resolve(import.meta.dirname, '../client/servers/python.py');

describe.skipIf(python === undefined)('a server in Python', () => {
  const home = useHome();

  test('lists, validation, calls and resources', { timeout: 90_000 }, async () => {
    const { command = '', env = {} } = python ?? {};
    const flags = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const { client, child } = await startConsole(home, ['inspect', '--no-open', ...flags, '--', command, file]);
    const feed = await client.feed();
    await feed.until(({ batches }) => batches.some(({ connection }) => connection?.status === 'connected'));
    const state = await client.get<ConsoleState>('state');
    expect(state).toMatchObject({ mode: 'inspect', server: { name: 'python-peer' } });
    const { tools, resources } = await client.get<Lists>('lists');
    expect(tools.map(({ name }) => name)).toEqual(['echo']);
    expect(resources.map(({ uri }) => uri)).toEqual(['note://one']);
    const wrong = await client.post<Validated>('validate', { tool: 'echo', argumentsText: '{}' });
    expect(wrong.issues).toHaveLength(1);
    const started = await client.post<CallStarted>('calls', {
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'hi' } },
    });
    expect((await feed.call(started.call, 'done', 'failed')).resultText).toContain('hi');
    const read = await client.post<CallStarted>('calls', { method: 'resources/read', params: { uri: 'note://one' } });
    expect((await feed.call(read.call, 'done', 'failed')).resultText).toContain('first note');
    feed.close();
    child.kill('SIGTERM');
    expect(await endOf(child)).toEqual({ code: 0, signal: null });
  });
});
