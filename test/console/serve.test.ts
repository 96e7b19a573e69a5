// `mooring serve --console`: on HTTP, beside stdio, and switched off.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import type { About, AuditPage, CallStarted, ConsoleState } from '../../src/console/api.ts';
import { cli, useHome } from '../support/program.ts';
import { line } from './console-client.ts';
import { endOf, startConsole } from './program.ts';

const home = useHome();

test('on HTTP the console is below /console/ and shows the clients of the endpoint', async () => {
  const { client, child, lines } = await startConsole(home, [
    'serve',
    'everything',
    '--http',
    '--port',
    '0',
    '--console',
  ]);
  const url = lines.map((each) => /listening on (\S+)/.exec(each)?.[1]).find((each) => each !== undefined) as string;
  expect(client.base).toBe(`${new URL(url).origin}/console/api/`);
  const feed = await client.feed();
  const other = await connect(url);
  await other.listTools();
  const entry = await feed.until(({ entries }) =>
    entries.find(({ method, kind }) => method === 'tools/list' && kind === 'response'),
  );
  expect(line(entry)).toBe('out response tools/list ok');
  const state = await client.get<ConsoleState>('state');
  expect(state).toMatchObject({ mode: 'embedded', server: { version: expect.any(String) } });
  expect(state.snippets).toContainEqual({ title: 'Command line', text: `npx mooring tools ${url}` });
  const { settings } = await client.get<About>('about');
  expect(settings).toContainEqual({ name: 'console.enabled', value: 'true', from: 'flag --console', changed: true });
  await other.close();
  child.kill('SIGTERM');
  expect(await endOf(child)).toEqual({ code: 0, signal: null });
  feed.close();
});

test('beside stdio the pipe carries only the protocol, and the console shows what is on it', async () => {
  const { client, child } = await startConsole(home, ['serve', 'everything', '--console']);
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const feed = await client.feed();
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'editor', version: '4' } };
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  const entry = await feed.until(({ entries }) => entries.find(({ kind }) => kind === 'response'));
  expect(line(entry)).toBe('out response initialize ok');
  expect(feed.peers.get(entry.peer)).toMatchObject({ transport: 'stdio', client: 'editor 4', revision: '2025-06-18' });
  const { call } = await client.post<CallStarted>('calls', {
    method: 'tools/call',
    params: { name: 'echo', arguments: { message: 'hi' } },
  });
  await feed.call(call, 'done', 'failed');
  child.stdin?.end();
  expect(await endOf(child)).toEqual({ code: 0, signal: null });
  // The console's own call is not on the pipe.
  expect(stdout.trim().split('\n')).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } });
});

test('calls of the console are in the audit log, which the console can search', async () => {
  const audit = home.file('audit.jsonl');
  const { client } = await startConsole(home, [
    'serve',
    'everything',
    '--http',
    '--port',
    '0',
    '--console',
    '--audit',
    audit,
  ]);
  const feed = await client.feed();
  const { call } = await client.post<CallStarted>('calls', {
    method: 'tools/call',
    params: { name: 'echo', arguments: { message: 'hi' } },
  });
  await feed.call(call, 'done', 'failed');
  const page = await client.get<AuditPage>('audit?text=echo');
  expect(page).toMatchObject({ enabled: true, verification: expect.stringContaining('intact') });
  expect(page.lines).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ event: 'call', name: 'echo', principal: 'console' }),
      expect.objectContaining({
        event: 'console',
        details: expect.objectContaining({ action: 'calls', name: 'echo' }),
      }),
    ]),
  );
  const none = await client.get<AuditPage>('audit?text=nothing-like-this');
  expect(none.lines).toEqual([]);
  feed.close();
});

test('on an address that others can reach it needs authentication, and never shows secrets', async () => {
  const reachable = ['serve', 'everything', '--http', '--host', '0.0.0.0', '--port', '0', '--console'];
  const open = await home.run([...reachable, '--unsafe-no-auth']);
  expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining('needs authentication') });
  const raw = await home.run([...reachable, '--console-raw', '--unsafe-no-auth']);
  expect(raw).toMatchObject({ code: 2, stderr: expect.stringContaining('--console-raw') });
});

test('the origin of apps must be one, and another than that of the console', async () => {
  const served = ['serve', 'everything', '--http', '--port', '0', '--console', '--console-sandbox-origin'];
  const path = await home.run([...served, 'https://apps.example.com/x']);
  expect(path).toMatchObject({ code: 2, stderr: expect.stringContaining('is not an origin') });
  const same = await home.run([...served, 'https://mcp.example.com', '--public-url', 'https://mcp.example.com/mcp']);
  expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining('the address of the console itself') });
});

test('without --console no file of it is loaded', async () => {
  const dist = resolve(cli, '..');
  const ofConsole = new Set(
    readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .filter(
        (name) => name.endsWith('.js') && readFileSync(join(dist, name), 'utf8').includes('require-trusted-types-for'),
      )
      .map((name) => resolve(dist, name)),
  );
  expect(ofConsole.size).toBeGreaterThan(0);
  const loaded = async (args: string[]): Promise<string[]> => {
    const folder = mkdtempSync(join(tmpdir(), 'mooring-coverage-'));
    const child = home.start(args, { env: { NODE_V8_COVERAGE: folder } });
    child.stdin?.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    child.stderr?.resume();
    child.stdout?.resume();
    await endOf(child);
    return readdirSync(folder).flatMap((name) =>
      (JSON.parse(readFileSync(join(folder, name), 'utf8')).result as { url: string }[])
        .filter(({ url }) => url.startsWith('file:'))
        .map(({ url }) => fileURLToPath(url)),
    );
  };
  expect((await loaded(['serve', 'everything'])).filter((file) => ofConsole.has(file))).toEqual([]);
  expect((await loaded(['serve', 'everything', '--console'])).filter((file) => ofConsole.has(file))).not.toEqual([]);
});

test('a console beside a pipe is found by "mooring console", with a link that only its user can read', async () => {
  const folder = home.file('run');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const env = { XDG_RUNTIME_DIR: folder };
  expect(await home.run(['console'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No console'),
  });
  const { client, child, said } = await startConsole(home, ['serve', 'everything', '--console'], { env });
  const link = await said('console on ');
  const { stdout } = await home.run(['console', '--json'], { env });
  const { consoles } = JSON.parse(stdout) as { consoles: { pid: number; link: string }[] };
  expect(consoles).toMatchObject([{ pid: child.pid, link }]);
  expect(statSync(join(folder, 'mooring', `console-${child.pid}.json`)).mode & 0o777).toBe(0o600);
  const { code } = await client.post<{ code: string }>('codes', {});
  const { token } = await client.post<{ token: string }>('exchange', { code });
  expect(token).not.toBe(client.token);
  child.stdin?.end();
  await endOf(child);
  expect((await home.run(['console', '--list'], { env })).code).toBe(1);
  expect(readdirSync(join(folder, 'mooring'))).toEqual([]);
});

test('a console that does not respond is reported with its process and address', async () => {
  const folder = home.file('run-silent');
  mkdirSync(join(folder, 'mooring'), { recursive: true, mode: 0o700 });
  const closed = createServer();
  await new Promise<void>((ready) => closed.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
  await new Promise((done) => closed.close(done));
  const running = { pid: process.pid, title: 'notes', link: `${origin}/console/#t=x`, startedAt: '' };
  writeFileSync(join(folder, 'mooring', `console-${process.pid}.json`), JSON.stringify(running), { mode: 0o600 });
  const { code, stderr } = await home.run(['console'], { env: { XDG_RUNTIME_DIR: folder } });
  expect([code, stderr]).toEqual([
    1,
    `mooring: The console of process ${process.pid} does not respond at ${origin} (ECONNREFUSED). Restart the server that it belongs to\n`,
  ]);
});
