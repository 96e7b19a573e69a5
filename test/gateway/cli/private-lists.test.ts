// The commands and the console of a gateway, with a server whose lists differ between callers.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import type { CallStarted, UpstreamRow } from '../../../src/console/api.ts';
import { startConsole } from '../../console/program.ts';
import { useClosers } from '../../support/closers.ts';
import { useHome } from '../../support/program.ts';
import { type PrivateUpstream, privateUpstream, toolOf } from '../private-upstream.ts';
import { runtimeOf, startHttp, toolNames, writeConfig } from './support.ts';

const home = useHome();
const closers = useClosers(afterEach);

const run = (...args: string[]) => home.run(['gateway', ...args], { env: runtimeOf(home) });
const runJson = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

const tokens = { ada: 'mrg_ada-0123456789-abcdefghijklmnopqrstuvw', bob: 'mrg_bob-0123456789-zyxwvutsrqponmlkjihgfe' };

async function setUp(isolation?: string): Promise<{ readonly far: PrivateUpstream; readonly config: string }> {
  const far = await privateUpstream(closers);
  for (const user of ['ada', 'bob', '']) far.users.set(user, { tools: [toolOf(`of-${user || 'nobody'}`)] });
  const mooring = { forwardHeaders: ['X-User'], auth: { kind: 'none' }, ...(isolation && { isolation }) };
  return { far, config: writeConfig(home, { mcpServers: { far: { url: far.url, mooring } } }) };
}

const connectAs = (url: string, user: keyof typeof tokens) =>
  connect(url, { headers: { Authorization: `Bearer ${tokens[user]}`, 'X-User': user } });

test('authenticated callers have their own lists; the commands show those of all', { timeout: 60_000 }, async () => {
  const { config } = await setUp();
  const args = ['--config', config, ...Object.values(tokens).flatMap((token) => ['--token', token])];
  const { url, child } = await startHttp(home, args);
  const ada = await connectAs(url, 'ada');
  const bob = await connectAs(url, 'bob');
  expect([await toolNames(ada), await toolNames(bob)]).toEqual([['far__of-ada'], ['far__of-bob']]);
  expect((await runJson('status')).servers).toMatchObject([{ slug: 'far', state: 'ready', callerLists: 2 }]);
  expect((await runJson('tools')).tools).toMatchObject([{ name: 'far__of-ada' }, { name: 'far__of-bob' }]);
  expect((await run('restart', 'far')).code).toBe(0);
  expect([await toolNames(ada), await toolNames(bob)]).toEqual([['far__of-ada'], ['far__of-bob']]);
  await Promise.all([ada.close(), bob.close()]);
  child.kill();
  await vi.waitUntil(() => child.exitCode !== null || child.signalCode !== null);

  // Nothing of a caller is stored, and another process shows nothing of it.
  const folder = join(home.path, '.local/share/mooring/gateway/catalog');
  const stored = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(stored).toHaveLength(1);
  expect(stored.join('')).not.toContain('of-');
  const again = await startHttp(home, args);
  const next = await connectAs(again.url, 'bob');
  expect(await toolNames(next)).toEqual(['far__of-bob']);
  await next.close();
  again.child.kill();
});

test('without a running gateway, "tools" says that private lists are not stored', { timeout: 60_000 }, async () => {
  const { config } = await setUp('principal');
  const { url, child } = await startHttp(home, ['--config', config]);
  const client = await connect(url);
  await client.listTools();
  await client.close();
  child.kill();
  const { stderr, stdout } = await run('tools', '--config', config);
  expect(stderr + stdout).toContain('Not stored, because their lists differ between callers: far');
});

test('the console has lists of its own, and shows the tools of all callers', { timeout: 60_000 }, async () => {
  const { far, config } = await setUp('principal');
  const args = ['gateway', '--config', config, '--console', '--http', '--port', '0', '--token', tokens.ada];
  const { client, lines, child } = await startConsole(home, args, { env: runtimeOf(home) });
  const address = (): string | undefined => /listening on (http[^\s"]+)/.exec(lines.join('\n'))?.[1];
  await expect.poll(address, { timeout: 30_000 }).toBeDefined();
  const ada = await connectAs(address() as string, 'ada');
  expect(await toolNames(ada)).toEqual(['far__of-ada']);
  const feed = await client.feed();
  const params = { name: 'far__of-nobody', arguments: { text: 'x' } };
  const { call } = await client.post<CallStarted>('calls', { method: 'tools/call', params });
  expect(await feed.call(call, 'done', 'failed')).toMatchObject({ status: 'done' });
  const { upstreams } = await client.get<{ upstreams: UpstreamRow[] }>('upstreams');
  expect(upstreams).toMatchObject([
    { slug: 'far', tools: [{ exposed: 'far__of-ada' }, { exposed: 'far__of-nobody' }], pins: [] },
  ]);
  expect(far.requests).toContain(' tools/call');
  feed.close();
  await ada.close();
  child.kill('SIGTERM');
});
