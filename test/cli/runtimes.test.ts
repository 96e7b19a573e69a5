// The package as it is published on other runtimes, as npm provides them: servers on Workers, Bun and Deno, clients on Bun
// and Deno.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createServer, type HttpServer, serveHttp } from '../../src/index.ts';
import { unpackPackage } from '../support/packed-package.ts';
import { reportMissing } from '../support/programs.ts';

const modules = resolve(import.meta.dirname, '../../node_modules');

/**
 * The binary of a runtime: its packages by platform contain it, and npm has installed the one for this machine. `moved`: where
 * the install script of the package moves it.
 */
function findBinary(scope: string, path: string, moved?: string): string | undefined {
  const names = existsSync(join(modules, scope)) ? readdirSync(join(modules, scope)) : [];
  const files = names.flatMap((name) => ['', '.exe'].map((ext) => join(modules, scope, name, `${path}${ext}`)));
  if (moved !== undefined) files.push(join(modules, moved));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) reportMissing(`${scope}/*/${path} is missing (npm install)`);
  return found;
}

/** No request waits for something of another one, which may have ended: after large responses, and after a while. */
async function expectServed(url: string): Promise<void> {
  const client = await connect(url, { revision: '2026-07-28', eraCache: false });
  const name = 'a'.repeat(2_000_000);
  for (let n = 0; n < 8; n++) {
    expect((await client.callTool('greet', { name })).content).toMatchObject([{ text: `Hello, ${name}!` }]);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  await client.close();
}

const workerd = findBinary('@cloudflare', 'bin/workerd');
const bun = findBinary('@oven', 'bin/bun', 'bun/bin/bun.exe');
const deno = findBinary('@deno', 'deno');

const server = `
  import { createServer, toFetch } from 'mooring/web';
  const server = createServer({ name: 'elsewhere', version: '1.0.0', key: 'a key of at least thirty-two characters' });
  server.tool('greet', {
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    run: ({ name }) => \`Hello, \${name}!\`,
  });
  const mcp = toFetch(server);
`;
const files = {
  'worker.js': `${server} export default { fetch: (request) => mcp(request) };`,
  'bun.js': `${server}
    const { port } = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: mcp });
    console.log(JSON.stringify({ port }));`,
  'deno.js': `${server}
    const onListen = ({ port }) => console.log(JSON.stringify({ port }));
    Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, (request) => mcp(request));`,
  'serve-http.js': `
    import { createServer, serveHttp } from 'mooring';
    const server = createServer({ name: 'elsewhere', version: '1.0.0' });
    server.tool('greet', { input: { type: 'object' }, run: ({ name }) => \`Hello, \${name}!\` });
    const { url, close } = await serveHttp(server, { port: 0 });
    console.log(JSON.stringify({ port: Number(new URL(url).port) }));
    process.stdin.resume().once('end', () => close(0).then(() => process.exit(7)));`,
  'client.js': `
    import { connect } from 'mooring/client';
    const [url, revision] = process.argv.slice(2);
    const client = await connect(url, { revision });
    const { content } = await client.callTool('greet', { name: 'Ada' });
    await client.close();
    console.log(content[0].text);`,
};
const greeting = 'Hello, Ada!';
const revisions = ['handshake', '2026-07-28'];

const folder = mkdtempSync(join(tmpdir(), 'mooring-runtimes-'));
const endings: (() => Promise<unknown>)[] = [];
let here: HttpServer;

beforeAll(async () => {
  unpackPackage(folder, ['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'jose', 'oauth4webapi', 'ws']);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const target = createServer({ name: 'here', version: '1.0.0' });
  target.tool('greet', { input: { type: 'object' }, run: ({ name }) => `Hello, ${name}!` });
  here = await serveHttp(target, { port: 0 });
});
afterAll(async () => {
  await here.close();
  for (const end of endings) await end();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server that reports its port as a line of JSON on stdout or, with `fd`, on that descriptor. */
function start(program: string, args: readonly string[], fd = 1): Promise<string> {
  return urlOf(launch(program, args), fd);
}

function launch(program: string, args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { cwd: folder, stdio: ['pipe', 'pipe', 'inherit', 'pipe'] });
  const closed = once(child, 'close');
  endings.push(() => {
    child.kill('SIGKILL');
    return closed;
  });
  return child;
}

async function urlOf(child: ChildProcess, fd = 1): Promise<string> {
  const lines = createInterface({ input: child.stdio[fd] as NodeJS.ReadableStream });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return `http://127.0.0.1:${JSON.parse(line).port}/mcp`;
}

/** What the tool of a server returns to our client, by revision. */
async function greetings(url: string): Promise<unknown[]> {
  const found = [];
  for (const revision of revisions) {
    const client = await connect(url, { revision, eraCache: false });
    const [block] = (await client.callTool('greet', { name: 'Ada' })).content;
    found.push(block?.type === 'text' ? block.text : block);
    await client.close();
  }
  return found;
}

/** A program that closes its server when its input ends, and exits with 7 then. */
async function expectServedAndClosed(program: string, args: readonly string[]): Promise<void> {
  const child = launch(program, args);
  const closed = once(child, 'close');
  expect(await greetings(await urlOf(child))).toEqual([greeting, greeting]);
  child.stdin?.end();
  expect(await closed).toEqual([7, null]);
}

describe.concurrent('servers', { timeout: 120_000 }, () => {
  test.skipIf(workerd === undefined).for([
    ['without Node.js modules', ''],
    ['with nodejs_compat', '"nodejs_compat"'],
  ] as const)('Workers, %s', async ([, flags]) => {
    const name = flags === '' ? 'plain' : 'compat';
    // As wrangler does. Unlike that, a module of Node.js that the bundle would need is an error here.
    await build({
      absWorkingDir: folder,
      entryPoints: ['worker.js'],
      outfile: join(folder, `${name}.mjs`),
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['workerd', 'worker'],
      logLevel: 'silent',
    });
    writeFileSync(
      join(folder, `${name}.capnp`),
      `using Workerd = import "/workerd/workerd.capnp";
       const config :Workerd.Config = (
         services = [(name = "main", worker = .worker)],
         sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
       );
       const worker :Workerd.Worker = (
         modules = [(name = "main", esModule = embed "${name}.mjs")],
         compatibilityDate = "2026-01-01",
         compatibilityFlags = [${flags}],
       );`,
    );
    const url = await start(workerd as string, ['serve', '--control-fd=3', `${name}.capnp`], 3);
    expect(await greetings(url)).toEqual([greeting, greeting]);
    await expectServed(url);
  });

  test.skipIf(bun === undefined)('Bun', async () => {
    expect(await greetings(await start(bun as string, ['bun.js']))).toEqual([greeting, greeting]);
  });

  test.skipIf(bun === undefined)('Bun, with the server of Node.js', async () => {
    await expectServedAndClosed(bun as string, ['serve-http.js']);
  });

  test.skipIf(deno === undefined)('Deno, with the server of Node.js', async () => {
    await expectServedAndClosed(deno as string, ['run', '--allow-net', '--allow-read', '--allow-env', 'serve-http.js']);
  });

  test.skipIf(deno === undefined)('Deno', async () => {
    const args = ['run', '--allow-net', '--allow-read', '--allow-env', 'deno.js'];
    expect(await greetings(await start(deno as string, args))).toEqual([greeting, greeting]);
  });
});

describe.concurrent('clients', { timeout: 120_000 }, () => {
  const run = promisify(execFile);

  test.skipIf(bun === undefined).for(revisions)('Bun, %s', async (revision) => {
    const { stdout } = await run(bun as string, ['client.js', here.url, revision], { cwd: folder });
    expect(stdout).toBe(`${greeting}\n`);
  });

  test.skipIf(deno === undefined).for(revisions)('Deno, %s', async (revision) => {
    const args = ['run', '--allow-net', '--allow-read', '--allow-env', 'client.js', here.url, revision];
    const { stdout } = await run(deno as string, args, { cwd: folder });
    expect(stdout).toBe(`${greeting}\n`);
  });
});
