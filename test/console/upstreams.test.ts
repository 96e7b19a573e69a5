// The console of a gateway: the messages of both sides under one call, and the screen of the servers behind it.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import type { CallStarted, ConsoleState, SessionRow, UpstreamRow } from '../../src/console/api.ts';
import { runtimeOf, serverEntry, writeConfig } from '../gateway/cli/support.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { useHome } from '../support/program.ts';
import { startConsole } from './program.ts';

const home = useHome();

async function start(more: readonly string[] = []) {
  const config = writeConfig(home, {
    mcpServers: {
      files: serverEntry(home, 'files', [{ name: 'read', description: 'Reads' }], { mooring: { pin: 'block' } }),
      notes: serverEntry(home, 'notes', [
        { name: 'list', description: 'Lists' },
        { name: 'drop', description: 'Drops' },
      ]),
      off: { command: 'x', disabled: true },
    },
    gateway: { views: {} },
  });
  const args = ['gateway', '--config', config, '--console', '--console-operate', ...more];
  return startConsole(home, args, { env: runtimeOf(home) });
}

test('messages to and from a server are shown with the call that caused them', { timeout: 60_000 }, async () => {
  const { client, child } = await start();
  const feed = await client.feed();
  const params = { name: 'files__read', arguments: {} };
  const { call } = await client.post<CallStarted>('calls', { method: 'tools/call', params });
  expect(await feed.call(call, 'done', 'failed')).toMatchObject({ status: 'done' });
  const asked = await feed.until(({ entries }) =>
    entries.find(({ side, method, kind }) => side === 'client' && method === 'tools/call' && kind === 'request'),
  );
  const hop = await feed.until(({ entries }) =>
    entries.find(({ side, method, kind }) => side === 'upstream' && method === 'tools/call' && kind === 'response'),
  );
  expect(hop).toMatchObject({ direction: 'in', name: 'read', outcome: 'ok', group: asked.group });
  expect(feed.peers.get(hop.peer)).toMatchObject({ transport: 'upstream', client: 'files' });
  feed.close();
  child.kill('SIGTERM');
});

test('servers have their state and tools, and can be restarted', { timeout: 60_000 }, async () => {
  const { client, child } = await start();
  const upstreams = async (): Promise<readonly UpstreamRow[]> =>
    (await client.get<{ upstreams: UpstreamRow[] }>('upstreams')).upstreams;
  expect((await client.get<ConsoleState>('state')).screens).toContain('upstreams');
  const params = { name: 'files__read', arguments: {} };
  const feed = await client.feed();
  const { call } = await client.post<CallStarted>('calls', { method: 'tools/call', params });
  await feed.call(call, 'done', 'failed');
  const [files, , off] = await upstreams();
  expect(files).toMatchObject({
    slug: 'files',
    state: 'ready',
    tools: [{ original: 'read', exposed: 'files__read' }],
    pins: [],
  });
  expect(off).toMatchObject({ slug: 'off', state: 'disabled', tools: [] });
  await client.post('operate/restart-upstream', { id: 'files' });
  await expect.poll(async () => (await upstreams())[0]?.pid).not.toBe(files?.pid);
  await expect(client.post('operate/restart-upstream', { id: 'none' })).rejects.toThrow('404');
  feed.close();
  child.kill('SIGTERM');
});

test('sessions at the address of a single server are shown with their messages, and ended', {
  timeout: 60_000,
}, async () => {
  const { client, lines, child } = await start(['--http', '--port', '0']);
  const address = (): string | undefined => /listening on (http[^\s"]+)/.exec(lines.join('\n'))?.[1];
  await expect.poll(address, { timeout: 30_000 }).toBeDefined();
  const feed = await client.feed();
  const at = await connect(`${address()}/s/notes`, { revision: '2025-11-25' });
  await at.callTool('list');
  const sessions = async (): Promise<readonly SessionRow[]> =>
    (await client.get<{ sessions: SessionRow[] }>('sessions')).sessions;
  const [session, ...others] = await sessions();
  expect(others).toEqual([]);
  expect(session).toMatchObject({ transport: 'http', revision: '2025-11-25', canEnd: true });
  const asked = await feed.until(({ entries }) =>
    entries.find(({ side, method, kind }) => side === 'client' && method === 'tools/call' && kind === 'request'),
  );
  const hop = await feed.until(({ entries }) =>
    entries.find(({ side, method, kind }) => side === 'upstream' && method === 'tools/call' && kind === 'response'),
  );
  expect(hop.group).toBe(asked.group);
  await client.post('operate/end-session', { id: String(session?.peer) });
  expect(await sessions()).toEqual([]);
  feed.close();
  await at.close();
  child.kill('SIGTERM');
});

describe.skipIf(!hasBrowser)('in the browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test('a tool that changed is shown with what changed, and accepted', { timeout: 90_000 }, async () => {
    const { client, said, child } = await start();
    const call = async (): Promise<void> => {
      const feed = await client.feed();
      const params = { name: 'files__read', arguments: {} };
      const started = await client.post<CallStarted>('calls', { method: 'tools/call', params });
      await feed.call(started.call, 'done', 'failed');
      feed.close();
    };
    await call();
    const { page, problems } = await openPage(browser, await said('console on '));
    await page.getByRole('link', { name: 'Upstreams', exact: true }).click();
    const files = page.getByRole('region', { name: 'files', exact: true });
    await files.getByText('ready').waitFor();
    serverEntry(home, 'files', [{ name: 'read', description: 'Reads and sends' }]);
    await files.getByRole('button', { name: 'Restart' }).click();
    await files.getByText('1 tool to accept').waitFor();
    await files.locator('.pins summary').click();
    await files.getByText('Reads and sends').waitFor();
    await files.getByRole('button', { name: 'Accept read' }).click();
    await files.getByText('1 tool to accept').waitFor({ state: 'detached' });
    await files.getByText('1 tool', { exact: true }).click();
    await files.getByRole('cell', { name: 'files__read' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
    child.kill('SIGTERM');
  });
});
