// mooring dev --http: the server restarts when a file changes, and clients stay connected.

import type { ChildProcess } from 'node:child_process';
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type Client, type ConnectOptions, connect } from '../../src/client/index.ts';
import { eras, Printed, save, textOf, tideServer, tools, writeProject } from '../support/dev-project.ts';
import { isFullRun } from '../support/full.ts';
import { useHome } from '../support/program.ts';

const home = useHome();
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

async function start(file: string): Promise<{ url: string; printed: Printed; child: ChildProcess }> {
  const printed = new Printed();
  const child = home.start(['dev', '--http', '--port', '0', file]);
  child.stderr?.setEncoding('utf8').on('data', (text: string) => printed.add(text));
  const line = await printed.until(/listening on \S+/);
  return { url: line.replace('listening on ', ''), printed, child };
}

/** Connections that are lost fail the test instead of being made again. */
async function join(url: string, revision: string, options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(url, { revision, reconnect: false, retry: false, eraCache: false, ...options });
  clients.push(client);
  return client;
}

test.each(isFullRun ? eras : eras.slice(1, 2))(
  'a change of an imported file restarts the server, and every client is told ($era)',
  async ({ revision }) => {
    writeProject(home);
    const { url, printed } = await start('src/server.ts');
    const pair = await Promise.all([join(url, revision), join(url, revision)]);
    const streams = await Promise.all(pair.map((client) => client.watch({ tools: true })));
    expect(await textOf(pair[0], 'greet')).toBe('first');
    await printed.until(/tools\/call greet {2}[\d.]+ ms\n/);

    save(home, 'src/tools.ts', tools('second'));
    for (const changes of streams) {
      expect((await changes[Symbol.asyncIterator]().next()).value).toMatchObject({ kind: 'tools' });
    }
    await printed.until(/restarting: tools\.ts changed/);
    for (const client of pair) {
      expect((await client.listTools()).find(({ name }) => name === 'greet')?.description).toBe('second');
      expect(await textOf(client, 'greet')).toBe('second');
    }
  },
  60_000,
);

test.each(isFullRun ? eras : eras.slice(0, 1))(
  'a call that runs during a restart fails with the reason, and the next one succeeds ($era)',
  async ({ revision }) => {
    writeProject(home);
    const { url, printed } = await start('src/server.ts');
    const client = await join(url, revision);
    const call = client.callTool('wait').catch((error: Error) => error);
    await printed.until(/wait begins/);
    save(home, 'src/tools.ts', tools('second'));
    expect(String(await call)).toContain('restarted because tools.ts changed. Send the request again');
    await printed.until(/tools\/call wait {2}\d+ ms {2}failed: The server was restarted because tools\.ts changed/);
    expect(await textOf(client, 'greet')).toBe('second');
  },
  60_000,
);

test('log level and resource subscriptions of a session outlive two restarts', async () => {
  writeProject(home);
  save(home, 'server.js', tideServer('low'));
  const { url, printed } = await start('server.js');
  const logged: unknown[] = [];
  const client = await join(url, 'handshake', { onLog: ({ data }) => logged.push(data) });
  await client.setLogLevel('debug');
  const changes = (await client.subscribe('tide://now'))[Symbol.asyncIterator]();
  for (const text of ['middle', 'high']) {
    save(home, 'server.js', tideServer(text));
    await printed.until(/restarting/);
    await client.callTool('change');
    expect((await changes.next()).value).toMatchObject({ uri: 'tide://now' });
  }
  expect(logged).toEqual(['middle', 'high']);
}, 60_000);

test('with a broken file calls fail with the reason, until it is fixed', async () => {
  writeProject(home);
  const { url, printed } = await start('src/server.ts');
  const client = await join(url, 'handshake');
  save(home, 'src/tools.ts', 'export function addTools( {');
  await printed.until(/server\.ts is not running \(exit code 1\)/);
  await expect(client.callTool('greet')).rejects.toThrow('server.ts is not running (exit code 1)');
  await printed.until(/tools\/call greet {2}[\d.]+ ms {2}failed: server\.ts is not running \(exit code 1\)/);
  save(home, 'src/tools.ts', tools('fixed'));
  await printed.until(/restarting/);
  expect(await textOf(client, 'greet')).toBe('fixed');
}, 60_000);

test.each(eras)(
  'calls that fail are printed with their errors ($era)',
  async ({ revision }) => {
    writeProject(home);
    const { url, printed } = await start('src/server.ts');
    const client = await join(url, revision);
    expect((await client.callTool('fail')).isError).toBe(true);
    await printed.until(/tools\/call fail {2}[\d.]+ ms {2}failed: no such tide\n/);
    await expect(client.callTool('nope')).rejects.toThrow('nope');
    await printed.until(/tools\/call nope {2}[\d.]+ ms {2}failed: Unknown tool: nope\n/);
    await expect(client.request('no/such/method', {})).rejects.toThrow();
    await printed.until(/no\/such\/method {2}[\d.]+ ms {2}failed: Method not found/);
  },
  60_000,
);

test('another host name is rejected', async () => {
  writeProject(home);
  const { url } = await start('src/server.ts');
  const { port } = new URL(url);
  const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
    const headers = { Host: `evil.example:${port}`, 'Content-Type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (reply) => {
      reply.resume();
      resolve({ status: reply.statusCode });
    });
    sent.on('error', reject);
    sent.end('{}');
  });
  expect(status).toBe(403);
}, 60_000);

test('a file that exports no server, and a port without --http, are explained', async () => {
  save(home, 'package.json', '{ "type": "module" }');
  save(home, 'server.js', '');
  const { printed } = await start('server.js');
  await printed.until(/server\.js exports no server\. With --http, it must: export const server/);
  const { code, stderr } = await home.run(['dev', 'server.js', '--port', '8000']);
  expect(code).toBe(2);
  expect(stderr).toContain('--port is for --http');
}, 60_000);

test('a TypeScript file that this Node cannot run ends the program, and no port stays open', async () => {
  save(home, 'server.ts', 'export const server = undefined;');
  // Node 22.18 and later run TypeScript, unless they are told not to.
  const runsTypeScript = Boolean((process.features as { readonly typescript?: unknown }).typescript);
  const env: Record<string, string> = runsTypeScript ? { NODE_OPTIONS: '--no-experimental-strip-types' } : {};
  const { code, stderr } = await home.run(['dev', '--http', '--port', '0', 'server.ts'], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('does not run TypeScript')]);
});

test.skipIf(process.platform === 'win32')(
  'SIGHUP comes to all processes and twice when a terminal is closed; the server can end by itself nevertheless',
  async () => {
    writeProject(home);
    save(
      home,
      'server.js',
      `import { createServer } from 'mooring';
       export const server = createServer({ name: 'dev', version: '1.0.0' });
       server.tool('pid', { run: () => String(process.pid) });
       process.on('SIGTERM', () => {
         console.error('ending');
         setTimeout(() => { console.error('ended'); process.exit(0); }, 400);
       });`,
    );
    const { url, printed, child } = await start('server.js');
    const pid = Number(await textOf(await join(url, '2026-07-28'), 'pid'));
    process.kill(pid, 'SIGHUP');
    child.kill('SIGHUP');
    await printed.until(/ending/);
    process.kill(pid, 'SIGHUP');
    child.kill('SIGHUP');
    await printed.until(/ended/);
    const end = await new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    expect(end).toEqual({ code: 0, signal: null });
  },
  60_000,
);
