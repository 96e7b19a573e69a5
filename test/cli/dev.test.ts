// mooring dev: the server restarts when a file changes, and the client stays connected.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Client, connect, type LogMessage } from '../../src/client/index.ts';
import { useClosers } from '../support/closers.ts';
import { eras, Printed, save, textOf, tideServer, tools, writeProject } from '../support/dev-project.ts';
import { isFullRun } from '../support/full.ts';
import { isRunning } from '../support/is-running.ts';
import { cli, useHome } from '../support/program.ts';
import { hasTerminal, Terminal } from '../support/terminal.ts';

const home = useHome();
const closers = useClosers();
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

async function start(
  file: string,
  revision: string,
  onLog?: (message: LogMessage) => void,
): Promise<{ client: Client; printed: Printed }> {
  const printed = new Printed();
  const entry = { command: process.execPath, args: [cli, 'dev', file], cwd: home.folder, env: home.env };
  const client = await connect(entry, { revision, onStderr: (text) => printed.add(text), ...(onLog && { onLog }) });
  clients.push(client);
  return { client, printed };
}

/** The program without a client. */
function startProgram(
  file: string,
  cwd = home.folder,
  ...args: string[]
): { program: ChildProcessWithoutNullStreams; printed: Printed } {
  const program = spawn(process.execPath, [cli, 'dev', file, ...args], { cwd, env: home.env });
  closers.push(async () => void program.kill('SIGKILL'));
  const printed = new Printed();
  program.stderr.setEncoding('utf8').on('data', (text: string) => printed.add(text));
  return { program, printed };
}

test.each(isFullRun ? eras : eras.slice(0, 1))(
  'a change of an imported file restarts the server, and the client is told ($era)',
  async ({ revision }) => {
    writeProject(home);
    const { client, printed } = await start('src/server.ts', revision);
    expect(await textOf(client, 'greet')).toBe('first');
    await printed.until(/tools\/call greet {2}[\d.]+ ms\n/);
    const changes = await client.watch({ tools: true });

    save(home, 'src/tools.ts', tools('second'));
    const { value } = await changes[Symbol.asyncIterator]().next();
    expect(value).toMatchObject({ kind: 'tools' });
    await printed.until(/restarting: tools\.ts changed/);
    expect((await client.listTools()).find(({ name }) => name === 'greet')?.description).toBe('second');
    expect(await textOf(client, 'greet')).toBe('second');
  },
  60_000,
);

test.each(isFullRun ? eras : eras.slice(1, 2))(
  'a call that runs during a restart fails with the reason, and the next one succeeds ($era)',
  async ({ revision }) => {
    writeProject(home);
    const { client, printed } = await start('src/server.ts', revision);
    const call = client.callTool('wait').catch((error: Error) => error);
    await printed.until(/wait begins/);
    save(home, 'src/tools.ts', tools('second'));
    expect(String(await call)).toContain('restarted because tools.ts changed. Send the request again');
    await printed.until(/tools\/call wait .*failed: The server was restarted/);
    expect(await textOf(client, 'greet')).toBe('second');
  },
  60_000,
);

test('log level and resource subscriptions of a session outlive a restart', async () => {
  writeProject(home);
  save(home, 'server.js', tideServer('low'));
  const logged: unknown[] = [];
  const { client, printed } = await start('server.js', 'handshake', ({ data }) => logged.push(data));
  await client.setLogLevel('debug');
  const changes = (await client.subscribe('tide://now'))[Symbol.asyncIterator]();
  save(home, 'server.js', tideServer('high'));
  await printed.until(/restarting/);
  await client.callTool('change');
  expect((await changes.next()).value).toMatchObject({ uri: 'tide://now' });
  expect(logged).toEqual(['high']);
}, 60_000);

test('errors of tools are printed', async () => {
  writeProject(home);
  const { client, printed } = await start('src/server.ts', '2026-07-28');
  expect(await client.callTool('fail')).toMatchObject({ isError: true });
  await printed.until(/tools\/call fail {2}[\d.]+ ms {2}failed: .*no such tide/);
}, 60_000);

test('with a broken file calls fail with the reason, until it is fixed', async () => {
  writeProject(home);
  const { client, printed } = await start('src/server.ts', 'handshake');
  save(home, 'src/tools.ts', 'export function addTools( {');
  await printed.until(/server\.ts is not running \(exit code 1\)/);
  await expect(client.callTool('greet')).rejects.toThrow('server.ts is not running (exit code 1)');
  save(home, 'src/tools.ts', tools('fixed'));
  await printed.until(/restarting/);
  expect(await textOf(client, 'greet')).toBe('fixed');
}, 60_000);

test('a JavaScript file may serve itself', async () => {
  writeProject(home);
  save(
    home,
    'main.js',
    `import { createServer, serveStdio } from 'mooring';
     export const server = createServer({ name: 'dev', version: '1.0.0' });
     server.tool('greet', { description: 'Greets', run: () => 'Hello' });
     await serveStdio(server);`,
  );
  const { client } = await start('main.js', 'handshake');
  expect(await textOf(client, 'greet')).toBe('Hello');
}, 60_000);

test('what a server prints to stdout is not sent to the client', async () => {
  writeProject(home);
  const lines = ['[null]', '{}', '[]', '[1, 2]', '{"id":0}'];
  const prints = lines.map((line) => `console.log(${JSON.stringify(line)});`).join('');
  save(home, 'server.js', `${tideServer('low')}${prints}`);
  const { client, printed } = await start('server.js', 'handshake');
  for (const line of lines) expect(await printed.until(/not a message on stdout: .*\n/)).toContain(line);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['change']);
}, 60_000);

test('a line that is too long is not kept in memory', async () => {
  writeProject(home);
  const prints = `for (let i = 0; i < 70; i++) process.stdout.write('x'.repeat(1024 * 1024)); console.log();`;
  save(home, 'server.js', `${tideServer('low')}${prints}`);
  const { client, printed } = await start('server.js', 'handshake');
  await printed.until(/not a message on stdout: a line of more than 67108864 bytes/);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['change']);
}, 60_000);

test('an imported file that does not exist starts the server when it is created', async () => {
  writeProject(home);
  rmSync(home.file('src/tools.ts'));
  const child = startProgram('src/server.ts');
  await child.printed.until(/server\.ts is not running \(exit code 1\)/);
  save(home, 'src/tools.ts', `console.error('tools are loaded');${tools('first')}`);
  await child.printed.until(/tools are loaded/);
}, 60_000);

test('a working folder that is removed is reported, and used again when it is created', async () => {
  writeProject(home);
  const folder = home.file('deployed');
  const write = (): void => save(home, 'deployed/main.js', `${tideServer('low')}console.error('main is loaded');`);
  write();
  const { printed } = startProgram(join(folder, 'main.js'), folder);
  await printed.until(/main is loaded/);
  rmSync(folder, { recursive: true });
  await printed.until(/main\.js is not running \(the folder .* does not exist\)/);
  write();
  await printed.until(/main is loaded/);
}, 60_000);

/** A file that never ends, and prints the id of its process. */
const endless = `process.on('SIGTERM', () => {}); console.error('process ' + process.pid); for (;;);`;

test.each([[[]], [['--http', '--port', '0']]])(
  'a server that never ends, ends with the program %j',
  async (args) => {
    save(home, 'server.mjs', endless);
    const { program, printed } = startProgram('server.mjs', home.folder, ...args);
    const pid = Number((await printed.until(/process \d+\n/)).slice(8));
    closers.push(async () => void (isRunning(pid) && process.kill(pid, 'SIGKILL')));
    program.kill('SIGKILL');
    await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
  },
  60_000,
);

test('a program that ends during a restart waits for the server that is being replaced', async () => {
  save(home, 'server.mjs', endless);
  const { program, printed } = startProgram('server.mjs');
  const pid = Number((await printed.until(/process \d+\n/)).slice(8));
  closers.push(async () => void (isRunning(pid) && process.kill(pid, 'SIGKILL')));
  save(home, 'server.mjs', `${endless}\n`);
  await printed.until(/restarting/);
  const exited = once(program, 'exit');
  program.stdin.end();
  await exited;
  expect(isRunning(pid)).toBe(false);
}, 60_000);

test('requests that were sent before the end of the input are answered', async () => {
  writeProject(home);
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const request = { jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'greet', _meta: meta } };
  const { code, stdout } = await home.run(['dev', 'src/server.ts'], { input: `${JSON.stringify(request)}\n` });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 0, result: { content: [{ type: 'text', text: 'first' }] } });
}, 60_000);

test.each([
  [['dev'], /Usage: mooring dev <file>/],
  [['dev', 'missing.ts'], /missing\.ts is not a file/],
])('%j is a usage error', async (args, message) => {
  const { code, stderr } = await home.run(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test.skipIf('typescript' in process.features)('without esbuild, Node before 22.18 says what to install', async () => {
  save(home, 'server.ts', '');
  const { code, stderr } = await home.run(['dev', 'server.ts']);
  expect(code).toBe(2);
  expect(stderr).toContain('npm install --save-dev esbuild');
});

test.skipIf(!hasTerminal)('at a terminal it says what it waits for, and how to try the server', async () => {
  writeProject(home);
  const terminal = new Terminal(home, ['dev', 'src/server.ts']);
  await terminal.sees(/serving on stdin and stdout, for a client that starts this command.*--http/);
});
