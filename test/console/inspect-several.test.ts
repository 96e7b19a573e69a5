// `mooring inspect` with several servers: one port, one token, a console for each.

import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallStarted, ConsoleState } from '../../src/console/api.ts';
import { createServer, type HttpServer, serveHttp } from '../../src/index.ts';
import { useHome } from '../support/program.ts';
import { ConsoleClient } from './console-client.ts';
import { endOf, startConsole } from './program.ts';

const home = useHome();
const listening: HttpServer[] = [];
beforeAll(async () => {
  for (const name of ['first', 'second']) {
    const server = createServer({ name, version: '1.0.0', logger: false });
    server.tool('who', { run: () => name });
    listening.push(await serveHttp(server, { port: 0 }));
  }
});
afterAll(async () => {
  for (const each of listening) await each.close();
});

async function callBoth(link: string): Promise<readonly string[]> {
  const { origin, hash } = new URL(link);
  const texts: string[] = [];
  for (const number of [1, 2]) {
    const client = new ConsoleClient(`${origin}/console/${number}/${hash}`);
    const feed = await client.feed();
    await feed.until(({ batches }) => batches.some(({ connection }) => connection?.status === 'connected'));
    const { siblings = [] } = await client.get<ConsoleState>('state');
    expect(siblings.map(({ path }) => path)).toEqual(['/console/1', '/console/2']);
    const { call } = await client.post<CallStarted>('calls', { method: 'tools/call', params: { name: 'who' } });
    texts.push((await feed.call(call, 'done', 'failed')).resultText ?? '');
    feed.close();
  }
  return texts;
}

test('servers as arguments, and all servers of a configuration file', { timeout: 60_000 }, async () => {
  const urls = listening.map(({ url }) => url);
  const started = await startConsole(home, ['inspect', '--no-open', ...urls]);
  const link = await started.said('console on ');
  expect(await callBoth(link)).toEqual([expect.stringContaining('first'), expect.stringContaining('second')]);
  // The printed link leads to the first; the fragment with the token stays in the browser.
  const redirect = await fetch(new URL(link).href.split('#')[0] as string, { redirect: 'manual' });
  expect([redirect.status, redirect.headers.get('location')]).toEqual([307, '/console/1/']);
  const client = new ConsoleClient(link.replace('/console/', '/console/2/').replace(/#t=.*/, '#t=wrong'));
  await expect(client.get('state')).rejects.toThrow('401');
  started.child.kill('SIGTERM');
  expect(await endOf(started.child)).toEqual({ code: 0, signal: null });
  const config = home.file('servers.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { a: { url: urls[0] }, b: { url: urls[1] } } }));
  const all = await startConsole(home, ['inspect', '--no-open', '--config', config]);
  expect(await callBoth(await all.said('console on '))).toHaveLength(2);
  all.child.kill('SIGTERM');
  await endOf(all.child);
});

test('which of them cannot be reached is said on the terminal', async () => {
  const [{ url }] = listening as [HttpServer];
  const nowhere = 'http://127.0.0.1:9/mcp';
  const { said, child } = await startConsole(home, ['inspect', '--no-open', '--no-login', url, nowhere]);
  expect(await said('mooring: ')).toMatch(/^http:\/\/127\.0\.0\.1:9\/mcp: Could not reach /);
  child.kill('SIGTERM');
  await endOf(child);
});

test('a token is not sent to several servers', async () => {
  const { code, stderr } = await home.run(['inspect', '--no-open', '--token', 'x', ...listening.map(({ url }) => url)]);
  expect(code).toBe(2);
  expect(stderr).toContain('--token and --header work with one server');
});
