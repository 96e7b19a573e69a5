// What a gateway does about servers that are too much, too large or not there.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { useHome } from '../../support/program.ts';
import { ensureProgram } from '../../support/programs.ts';
import { serverEntry, startHttp, textOf, toolNames, writeConfig } from './support.ts';

const home = useHome();
const hasSandbox = process.platform === 'linux' && ensureProgram('bwrap');

test('five hundred tools: the list of a search view has at most 8 KB, and every tool can be called', async () => {
  const description = 'Does something that takes a while to explain. '.repeat(5);
  const tools = Array.from({ length: 50 }, (_, i) => ({ name: `tool_${i}`, description: `${description}Number ${i}` }));
  const names = Array.from({ length: 10 }, (_, i) => `server${i}`);
  const config = writeConfig(home, {
    mcpServers: Object.fromEntries(names.map((name) => [name, serverEntry(home, name, tools)])),
    gateway: { views: { big: { mode: 'search', shortList: ['server3__tool_7'] }, auto: { mode: 'auto' } } },
  });
  const { url } = await startHttp(home, ['--config', config]);
  const all = await connect(url);
  await expect.poll(async () => (await toolNames(all)).length, { timeout: 20_000 }).toBe(500);
  await all.close();
  for (const [view, listed] of [
    ['big', 4],
    ['auto', 3],
  ] as const) {
    const client = await connect(`${url}/v/${view}`);
    const list = await client.listTools();
    expect(list).toHaveLength(listed);
    expect(Buffer.byteLength(JSON.stringify(list))).toBeLessThanOrEqual(8 * 1024);
    const found = JSON.parse(textOf(await client.callTool('search_tools', { query: 'number 42', server: 'server9' })));
    expect(found.tools[0]).toMatchObject({ name: 'server9__tool_42', server: 'server9' });
    const result = await client.callTool('call_tool', { name: 'server9__tool_42', arguments: { a: 1 } });
    expect(JSON.parse(textOf(result))).toMatchObject({ name: 'tool_42', args: { a: 1 } });
    await client.close();
  }
});

test('readiness fails while a required server is down, and others go on', async () => {
  const down = { command: process.execPath, args: ['-e', 'process.exit(1)'] };
  const restart = { minMs: 1, maxMs: 2, tries: 1 };
  const config = writeConfig(home, {
    mcpServers: {
      files: serverEntry(home, 'files', [{ name: 'read' }]),
      broken: { ...down, mooring: { required: true, start: 'eager', restart } },
    },
  });
  const { url } = await startHttp(home, ['--config', config, '--metrics', '/metrics']);
  const ready = async (): Promise<number> => (await fetch(new URL('/readyz', url))).status;
  await expect.poll(ready).toBe(503);
  const client = await connect(url);
  expect(await toolNames(client)).toEqual(['files__read']);
  expect(JSON.parse(textOf(await client.callTool('files__read', {})))).toMatchObject({ name: 'read' });
  await client.close();
  expect(await (await fetch(new URL('/metrics', url))).text()).toContain('mooring_gateway_servers_down 1');
});

test('a rate per upstream counts the calls of one server at all addresses', async () => {
  const config = writeConfig(home, {
    mcpServers: {
      files: serverEntry(home, 'files', [{ name: 'read' }, { name: 'list' }]),
      notes: serverEntry(home, 'notes', [{ name: 'add' }]),
    },
  });
  const policy = home.file('policy.json');
  const rate = [{ per: ['principal', 'upstream'], tools: ['**'], requests: 2, window: '10m', burst: 2 }];
  writeFileSync(policy, JSON.stringify({ version: 1, default: 'allow', limits: { rate } }));
  const { url } = await startHttp(home, ['--config', config, '--policy', policy]);
  const [all, single] = [await connect(url, { retry: false }), await connect(`${url}/s/files`, { retry: false })];
  await expect.poll(() => toolNames(all)).toHaveLength(3);
  const calls = [
    () => all.callTool('files__read', {}),
    () => single.callTool('list', {}),
    () => all.callTool('files__list', {}),
    () => single.callTool('read', {}),
    () => all.callTool('notes__add', {}),
  ];
  const outcomes: string[] = [];
  for (const call of calls) {
    outcomes.push(
      await call().then(
        ({ isError }) => (isError === true ? 'limited' : 'ok'),
        () => 'limited',
      ),
    );
  }
  expect(outcomes).toEqual(['ok', 'ok', 'limited', 'limited', 'ok']);
  await Promise.all([all.close(), single.close()]);
});

test('a gateway is served by one process', async () => {
  const config = writeConfig(home, { mcpServers: { files: serverEntry(home, 'files', []) } });
  const { code, stderr } = await home.run(['gateway', '--config', config, '--http', '--port', '0', '--workers', '2']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('belong to one process')]);
  expect(stderr).toContain('start several gateways behind a load balancer, with the same MOORING_KEY');
});

test.skipIf(!hasSandbox)('a server in a sandbox sees only the folders of its entry', async () => {
  const [secret, open] = [home.file('secret'), home.file('open')];
  // Started by root, the sandbox runs programs as another user.
  for (const folder of [home.path, home.folder]) chmodSync(folder, 0o755);
  for (const folder of [secret, open]) mkdirSync(folder);
  writeFileSync(join(secret, 'a.txt'), 'secret');
  writeFileSync(join(open, 'a.txt'), 'open');
  // A server that reads the file it is told to.
  const program = join(open, 'server.mjs');
  writeFileSync(
    program,
    `import { readFileSync } from 'node:fs'; import { createInterface } from 'node:readline';
     const read = (file) => { try { return readFileSync(file, 'utf8') } catch (error) { return error.code } };
     createInterface({ input: process.stdin }).on('line', (line) => {
       const { id, method, params = {} } = JSON.parse(line);
       if (id === undefined) return;
       const results = {
         initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
         'tools/list': { tools: [{ name: 'read', inputSchema: { type: 'object' } }] },
         'tools/call': { content: [{ type: 'text', text: params.arguments?.variables
           ? JSON.stringify(process.env) : String(read(params.arguments?.file)) }] },
       };
       const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no' } };
       process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
     });`,
  );
  const safe = (readOnly: readonly string[], command: string) => ({
    mcpServers: {
      safe: {
        ...{ command, args: [program], cwd: open, env: { OWN: 'entry' } },
        mooring: { inheritEnv: ['INHERITED', 'OWN', 'NOT_SET'], sandbox: { readOnly } },
      },
    },
  });
  // A program beside the server. Node may be installed in a folder that is not one of the system.
  writeFileSync(join(open, 'start'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  const config = writeConfig(home, safe([open, dirname(process.execPath)], './start'));
  const environment = { INHERITED: 'gateway', OWN: 'gateway', OTHER: 'gateway' };
  const { url, line } = await startHttp(home, ['--config', config], environment);
  const client = await connect(url);
  const read = async (file: string): Promise<string> => textOf(await client.callTool('safe__read', { file }));
  await expect.poll(() => toolNames(client)).toEqual(['safe__read']);
  expect(await read(join(open, 'a.txt'))).toBe('open');
  expect(await read(join(secret, 'a.txt'))).toBe('ENOENT');
  const variables = JSON.parse(textOf(await client.callTool('safe__read', { variables: true })));
  expect(variables).toMatchObject({ INHERITED: 'gateway', OWN: 'entry' });
  expect(variables).not.toHaveProperty('OTHER');
  // A program that it would not see is an error that says what to do. The gateway reads its changed file.
  const hidden = join(secret, 'node');
  writeFileSync(hidden, '#!/bin/sh', { mode: 0o755 });
  writeConfig(home, safe([open], hidden));
  const said = await line(/is not in a directory of the system, or in a read-only one/);
  expect(said).toContain('add the directory that it is in to');
  writeConfig(home, safe([open], 'no-such-program'));
  await line(/no-such-program was not found in PATH; install it or give the full path/);
  await client.close();
});

test('client credentials: the gateway gets its own token for a server', async () => {
  const seen: (string | undefined)[] = [];
  const upstream = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const json = (status: number, body: unknown, headers = {}): void => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      };
      const path = new URL(request.url ?? '/', origin).pathname;
      if (path.startsWith('/.well-known/oauth-protected-resource')) {
        return json(200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
      }
      if (path.startsWith('/.well-known/')) {
        const endpoints = { authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` };
        return json(200, { issuer: origin, ...endpoints, response_types_supported: ['code'] });
      }
      if (path === '/token') {
        const isRight = text.includes('grant_type=client_credentials') && request.headers.authorization !== undefined;
        return json(isRight ? 200 : 400, { access_token: 'own-token', token_type: 'Bearer', expires_in: 600 });
      }
      seen.push(request.headers.authorization);
      if (request.headers.authorization !== 'Bearer own-token') {
        const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
        return json(401, {}, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` });
      }
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method } = JSON.parse(text);
      if (id === undefined) return void response.writeHead(202).end();
      const results: Record<string, unknown> = {
        initialize: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'x', version: '1' },
        },
        'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: 'hello' }] },
      };
      const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no' } };
      json(200, { jsonrpc: '2.0', id, ...answer });
    });
  });
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
  const { port } = upstream.address() as AddressInfo;
  const auth = { kind: 'client-credentials', clientId: 'gateway', clientSecret: '$' + '{UPSTREAM_SECRET}' };
  const config = writeConfig(home, { mcpServers: { far: { url: `http://127.0.0.1:${port}/mcp`, mooring: { auth } } } });
  const { url } = await startHttp(home, ['--config', config], { UPSTREAM_SECRET: 'secret' });
  const client = await connect(url);
  try {
    expect(textOf(await client.callTool('far__hello', {}))).toBe('hello');
    expect(seen.at(-1)).toBe('Bearer own-token');
  } finally {
    await client.close();
    upstream.closeAllConnections();
    upstream.close();
  }
});
