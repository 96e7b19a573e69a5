// mooring serve: transports, addresses, authentication, policies, audit, plugins, and failures at start-up.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { HttpTestClient } from '../support/http-client.ts';
import { cli, programs, useHome } from '../support/program.ts';

const home = useHome();
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
const pong = '{"jsonrpc":"2.0","id":1,"result":{}}\n';

function put(name: string, text: string): string {
  const file = home.file(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

test.each([
  ['a profile by name', ['serve', 'everything']],
  ['the default profile', ['serve']],
  ['no word at all, as clients are told to start it', []],
  ['only options', ['--log-level', 'error']],
])('%s serves on stdio', async (_what, args) => {
  const { code, stdout } = await home.run(args, { input: ping });
  expect(stdout).toBe(pong);
  expect(code).toBe(0);
});

test.each([
  ['mcp-clipboardify', programs.clipboard, 'mcp-clipboardify', '2024-11-05'],
  ['mcp-secure-local', programs.secureLocal, 'mcp-secure-local', '2025-11-25'],
])('the program %s serves its profile', async (_name, program, server, revision) => {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`;
  const { stdout } = await home.run([], { program, input });
  expect(JSON.parse(stdout).result).toMatchObject({ protocolVersion: revision, serverInfo: { name: server } });
});

test('over HTTP it prints its address, serves there, and drains on SIGTERM', async () => {
  const { url, child, said } = await home.serve(['everything', '--path', '/here']);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/here$/);
  const client = await connect(url);
  expect(client.serverInfo?.name).toBe('mooring-everything');
  await client.close();
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(said()).not.toContain('Connect a client');
});

test('the address is printed at any log level, and as JSON if logs are JSON', async () => {
  const quiet = await home.serve(['everything', '--log-level', 'error']);
  expect(quiet.said()).toBe(`listening on ${quiet.url}\n`);
  const json = await home.serve(['everything', '--log-json']);
  expect(JSON.parse(json.said())).toMatchObject({ message: `listening on ${json.url}`, profile: 'everything' });
});

test('--show-setup prints how to connect clients', async () => {
  const { url, said } = await home.serve(['everything', '--show-setup']);
  await expect.poll(said).toContain('Press Ctrl-C to stop the server.');
  expect(said()).toContain(`claude mcp add --transport http mooring ${url}`);
  expect(said()).toContain(`{ "mcpServers": { "mooring": { "httpUrl": "${url}" } } }`);
});

test('HTTP flags without --http are reported', async () => {
  const { code, stderr } = await home.run(['serve', 'everything', '--port', '1', '--host', '127.0.0.1']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/--port, --host: no effect without --http|--host, --port: no effect without --http/);
  expect((await home.run(['serve', 'everything'])).stderr).not.toContain('no effect');
});

test('flags of the console without --console are reported', async () => {
  const { code, stderr } = await home.run(['serve', 'everything', '--console-raw']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('--console-raw: no effect without --console')]);
  expect((await home.run(['serve', 'everything', '--console', '--console-raw'])).stderr).not.toContain('no effect');
});

test('flags override the HTTP options of a profile', async () => {
  const { url } = await home.serve(['system', '--data', home.file('data')]);
  expect(new URL(url).port).not.toBe('8080');
  const { code, stderr } = await home.run(['serve', 'system', '--http', '--host', '192.0.2.1', '--unsafe-no-auth']);
  expect(code).toBe(1);
  expect(stderr).toContain('192.0.2.1 is not an address of this machine');
});

test('a public address requires authentication', async () => {
  const { code, stderr } = await home.run(['serve', 'everything', '--http', '--host', '0.0.0.0', '--port', '0']);
  expect(code).toBe(2);
  expect(stderr).toContain('Cannot listen on 0.0.0.0 without authentication');
  expect(stderr).toContain('--unsafe-no-auth');
});

test('OAuth tokens for an address that clients cannot use are rejected at start-up', async () => {
  const flags = ['--http', '--host', '0.0.0.0', '--auth-issuer', 'https://id.example'];
  const { code, stderr } = await home.run(['serve', 'everything', ...flags]);
  expect(code).toBe(2);
  expect(stderr).toContain('clients cannot use 0.0.0.0. Set the address with --public-url');
});

test('--server-card publishes a card that everyone can read, with the settings of the file', async () => {
  const repository = { url: 'https://git.example/notes', source: 'gitea' };
  const http = { serverCard: { title: 'Notes', websiteUrl: 'https://notes.example', repository } };
  const file = put('card.json', JSON.stringify({ http }));
  const flags = ['--server-card', 'com.example/notes', '--server-card-description', 'Notes of our team'];
  const { url } = await home.serve([
    'everything',
    '--config',
    file,
    '--token',
    'x'.repeat(20) + randomUUID(),
    ...flags,
  ]);
  expect((await fetch(url, { method: 'POST' })).status).toBe(401);
  const response = await fetch(`${url}/server-card`);
  expect(response.headers.get('content-type')).toBe('application/mcp-server-card+json');
  expect(await response.json()).toMatchObject({
    ...http.serverCard,
    name: 'com.example/notes',
    description: 'Notes of our team',
    remotes: [{ type: 'streamable-http', url }],
  });
  const catalog = (await (await fetch(new URL('/.well-known/ai-catalog.json', url))).json()) as object;
  expect(catalog).toMatchObject({ entries: [{ url: `${url}/server-card` }] });
});

test('a server card with an address that clients cannot use is rejected at start-up', async () => {
  const card = ['--server-card', 'com.example/notes', '--server-card-description', 'Notes'];
  const flags = ['--http', '--host', '0.0.0.0', '--port', '0', '--unsafe-no-auth', ...card];
  const { code, stderr } = await home.run(['serve', 'everything', ...flags]);
  expect(code).toBe(2);
  expect(stderr).toContain('Set the one that clients use with --public-url URL');
});

test('a port that is in use is reported with a short message, and the process ends', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const { code, stderr } = await home.run(['serve', 'local', '--http', '--port', String(port)]);
  taken.close();
  expect(code).toBe(1);
  expect(stderr).toContain(
    `Port ${port} on 127.0.0.1 is already in use. Choose another with --port N (0 picks a free one)`,
  );
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('tokens from the environment and from a file of hashes are accepted', async () => {
  const token = (await home.run(['token'])).stdout.trim();
  const added = await home.run(['token', 'add', 'ada', '--file', 'tokens.json']);
  const { url } = await home.serve(['everything', '--token-file', 'tokens.json'], { env: { MOORING_TOKEN: token } });
  const status = async (bearer?: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', ...(bearer ? { authorization: `Bearer ${bearer}` } : {}) };
    return (await fetch(url, { method: 'POST', headers, body: ping })).status;
  };
  expect(await status()).toBe(401);
  expect(await status('mrg_not-a-token-that-was-ever-made-by-us')).toBe(401);
  expect(await status(token)).not.toBe(401);
  expect(await status(added.stdout.trim())).not.toBe(401);
  expect(readFileSync(home.file('tokens.json'), 'utf8')).not.toContain(added.stdout.trim());
});

test('a token that could be guessed is a usage error', async () => {
  const { code, stderr } = await home.run(['serve', 'everything', '--http', '--token', 'hunter2']);
  expect(code).toBe(2);
  expect(stderr).toContain('A token needs at least 32 characters');
});

test('a policy hides what it does not allow, and limits the settings', async () => {
  put(
    'policy.yaml',
    'version: 1\nrules:\n  - effect: allow\n    tools: ["test_simple_*"]\nfiles:\n  read: [/usr/share]\n',
  );
  const client = await connect([process.execPath, cli, 'serve', 'everything', '--policy', home.file('policy.yaml')], {
    env: home.env,
  });
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['test_simple_text']);
  await expect(client.callTool('test_image_content')).rejects.toThrow('Unknown tool');
  await client.close();
  const { code, stderr } = await home.run(['serve', 'system', '--policy', 'policy.yaml', '--root', '/etc']);
  expect(code).toBe(2);
  expect(stderr).toContain('--root /etc is not allowed by the policy, which allows: /usr/share');
});

test('calls are in the audit log, which can be verified and searched', async () => {
  const file = home.file('audit/log.jsonl');
  const client = await connect([process.execPath, cli, 'serve', 'everything', '--audit', file], { env: home.env });
  await client.callTool('test_simple_text');
  await client.callTool('test_error_handling');
  await client.close();
  const verified = await home.run(['audit', 'verify', file]);
  expect(verified.code).toBe(0);
  expect(verified.stdout).toMatch(/^✓ log: \d+ lines, chain intact$/m);
  const failed = await home.run(['audit', 'query', file, '--outcome', 'failed', '--json']);
  expect(JSON.parse(failed.stdout)).toMatchObject({ event: 'call', name: 'test_error_handling', outcome: 'failed' });
  const last = await home.run(['audit', 'tail', file, '-n', '1']);
  expect(last.stdout).toMatch(/close/);
  appendFileSync(file, 'x\n');
  const broken = await home.run(['audit', 'verify', file]);
  expect(broken.code).toBe(1);
  expect(broken.stdout).toMatch(/^✗ log: broken at .*\n {2}the first \d+ lines of the log are intact\n$/);
});

test('an audit log in a folder that all users can write is rejected', async () => {
  const { code, stderr } = await home.run(['serve', 'everything', '--audit', '/tmp/mooring-audit.jsonl']);
  expect(code).toBe(2);
  expect(stderr).toContain('cannot be stored in /tmp');
});

const manifest = (name: string, more: object = {}): string => JSON.stringify({ name, version: '1.0.0', ...more });

function putPlugin(name: string, module: string, more?: object): void {
  put(`plugins/${name}/package.json`, '{"type":"module"}');
  put(`plugins/${name}/mooring-plugin.json`, manifest(name, more));
  put(`plugins/${name}/index.js`, module);
}

test('an error of a plugin in the background, while the next plugin is loaded, does not end the server', async () => {
  putPlugin(
    'early',
    `export const pack = () => ({ name: 'early', install() {
      setTimeout(() => { void Promise.reject(new Error('lost in a promise')); throw new Error('lost in a timer'); }, 1);
    } })`,
  );
  // Loaded when both errors have been reported.
  putPlugin(
    'late',
    `export const pack = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { name: 'late', install(server) { server.tool('late', { run: () => 'here' }) } };
    }`,
  );
  put('mooring.json', JSON.stringify({ plugins: [{ source: './plugins/early' }, { source: './plugins/late' }] }));
  const client = await connect([process.execPath, cli, 'serve', '--config', home.file('mooring.json')], {
    env: { ...home.env, MOORING_DATA: home.file('data') },
  });
  expect((await client.callTool('late')).content).toEqual([{ type: 'text', text: 'here' }]);
  const health = JSON.stringify((await client.callTool('health_check')).content);
  expect(health).toContain('uncaught errors so far: 2');
  await client.close();
});

test('plugins are loaded from the configuration; health_check reports one that fails, and the server keeps running', async () => {
  putPlugin(
    'weather',
    `export const pack = ({ config }) => ({ name: 'weather', install(server) {
      server.tool('forecast', { description: 'Forecast', run: () => config.city + ': 12 degrees' });
      server.tool('later', { description: 'Fails in the background', run: () => {
        setTimeout(() => { throw new Error('lost in a timer') }, 1);
        void Promise.reject(new Error('lost in a promise'));
        queueMicrotask(() => { throw new Error('lost in a microtask') });
        return 'started';
      } });
    } })`,
    { needs: ['data'], config: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  );
  putPlugin('broken', 'throw new Error("no station")');
  putPlugin('unparsed', 'export const pack = (');
  put(
    'mooring.json',
    JSON.stringify({
      profile: 'local',
      plugins: [
        { source: './plugins/weather', grant: ['data'], config: { city: 'Gdynia' } },
        { source: './plugins/broken' },
        { source: './plugins/unparsed' },
        { source: './plugins/nowhere' },
        { source: './plugins/off', enabled: false },
      ],
    }),
  );
  const client = await connect([process.execPath, cli, 'serve', '--config', home.file('mooring.json')], {
    env: { ...home.env, MOORING_DATA: home.file('data') },
  });
  const textOf = async (tool: string): Promise<string> => {
    const [block] = (await client.callTool(tool)).content;
    return (block as { text: string }).text;
  };
  expect(await textOf('forecast')).toBe('Gdynia: 12 degrees');
  expect(existsSync(home.file('data/plugins/weather'))).toBe(true);
  const health = await textOf('health_check');
  expect(health).toContain('no station');
  expect(health).toContain('plugin broken');
  expect(health).toMatch(/syntax error in index\.js or a file that it imports: Unexpected end of input/);
  expect(health).toContain('nowhere');
  expect(health).not.toContain('plugins/off');

  expect(await textOf('later')).toBe('started');
  await expect.poll(() => textOf('health_check')).toContain('uncaught errors so far: 3');
  expect(await textOf('forecast')).toBe('Gdynia: 12 degrees');
  await client.close();
});

test('an uncaught error of the server itself still ends the process', async () => {
  putPlugin('fine', 'export const pack = () => ({ name: "fine", install() {} })');
  put('mooring.json', JSON.stringify({ plugins: [{ source: './plugins/fine' }] }));
  put('crash.mjs', 'setTimeout(() => { throw new Error("ours") }, 800);');
  const child = home.start(['serve', 'everything', '--config', 'mooring.json'], {
    env: { NODE_OPTIONS: `--import=${home.file('crash.mjs')}` },
  });
  child.stdout?.resume();
  child.stderr?.resume();
  expect(await once(child, 'close')).toEqual([1, null]);
});

test('--allow-host works with and without a port, and a 403 names the flag that allows the host or origin', async () => {
  const { url, said } = await home.serve([
    'everything',
    '--allow-host',
    'desk.example',
    '--allow-host',
    'b.example:81',
  ]);
  const port = Number(new URL(url).port);
  const tester = new HttpTestClient(port);
  const status = async (headers: Record<string, string>) =>
    (await tester.send({ path: '/health', method: 'GET', headers })).status;
  for (const host of ['desk.example', `desk.example:${port}`, 'b.example:81', `localhost:${port}`]) {
    expect([host, await status({ Host: host })]).toEqual([host, 200]);
  }
  expect(await status({ Host: `b.example:${port}` })).toBe(403);
  const denied = await tester.send({ path: '/health', method: 'GET', headers: { Origin: 'https://app.example' } });
  expect(denied.text).toContain('add it with --allow-origin ORIGIN');
  await expect.poll(said).toContain('add it with --allow-host NAME');
  tester.close();
});

test('--skills offers the skills in a folder', async () => {
  const text = '---\nname: refunds\ndescription: Refunds a customer\n---\n# Refunds\n';
  const folder = dirname(dirname(put('skills/refunds/SKILL.md', text)));
  const client = await connect([process.execPath, cli, 'serve', '--skills', folder], { env: home.env });
  try {
    const { skills } = await client.request('skills/list', {});
    expect(skills).toMatchObject([{ uri: 'skill://refunds/SKILL.md', resources: [{ size: text.length }] }]);
    const { contents } = await client.readResource('skill://refunds/SKILL.md');
    expect(contents).toEqual([{ uri: 'skill://refunds/SKILL.md', mimeType: 'text/markdown', text }]);
  } finally {
    await client.close();
  }
  const { code, stderr } = await home.run(['serve', '--skills', `${folder}/missing`], { input: ping });
  expect(code).toBe(2);
  expect(stderr).toContain(`--skills: ${folder}/missing does not exist`);
});

test('--openapi offers the operations of an API, with the credential in the environment', async () => {
  const keys: unknown[] = [];
  const api = createHttpServer(({ url, headers }, response) => {
    keys.push(headers['x-key']);
    response.setHeader('content-type', 'application/json').end(url === '/openapi.json' ? document : '{"name":"Rex"}');
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  const { port } = api.address() as AddressInfo;
  const document = JSON.stringify({
    openapi: '3.1.0',
    paths: { '/pets/{id}': { get: { operationId: 'getPet', parameters: [{ name: 'id', in: 'path', schema: {} }] } } },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  });
  const origin = `http://127.0.0.1:${port}`;
  const file = put('openapi.json', document);
  const settings = {
    profile: 'everything',
    openapi: { document: './openapi.json', url: origin },
    packs: { openapi: { prefix: 'pets', credentials: { key: `\${PETS_KEY}` } } },
  };
  const config = put('api.json', JSON.stringify(settings));
  const call = async (args: readonly string[], env: Record<string, string>, tool = 'getPet') => {
    const client = await connect([process.execPath, cli, 'serve', ...args], { env: { ...home.env, ...env } });
    try {
      return (await client.callTool(tool, { id: 1 })).structuredContent;
    } finally {
      await client.close();
    }
  };
  try {
    const token = { MOORING_OPENAPI_TOKEN: 'secret-1' };
    expect(await call(['--openapi', `${origin}/openapi.json`], token)).toEqual({ name: 'Rex' });
    expect(await call(['local', '--openapi', file, '--openapi-url', origin], token)).toEqual({ name: 'Rex' });
    expect(await call(['--config', config], { PETS_KEY: 'secret-2' }, 'pets_getPet')).toEqual({ name: 'Rex' });
    // Not with the request for the document.
    expect(keys).toEqual([undefined, 'secret-1', 'secret-1', 'secret-2']);
    const custom = ['serve', 'custom', '--openapi', file, '--openapi-url', origin];
    const client = await connect([process.execPath, cli, ...custom], { env: home.env });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['getPet']);
    expect(client.capabilities).not.toHaveProperty('prompts');
    await client.close();
  } finally {
    api.close();
  }
});

test('the profile custom has what is added to it, and does not start without', async () => {
  const folder = dirname(put('skill-of-custom/SKILL.md', '---\nname: skill-of-custom\ndescription: One.\n---\n'));
  const client = await connect([process.execPath, cli, 'serve', 'custom', '--skills', dirname(folder)], {
    env: home.env,
  });
  expect((await client.skills.list()).map(({ frontmatter }) => frontmatter.name)).toContain('skill-of-custom');
  expect(client.capabilities).not.toHaveProperty('tools');
  await client.close();
  const { code, stderr } = await home.run(['serve', 'custom'], { input: ping });
  expect(code).toBe(2);
  expect(stderr).toContain('The profile custom offers nothing by itself. Add --openapi FILE|URL');
});

test.each([
  [['--openapi', 'missing.json'], {}, '--openapi: */missing.json: the file cannot be read: there is no such file'],
  [['--openapi', 'a.json'], {}, '--openapi: */a.json: The document is Swagger 2.0'],
  [['--openapi', 'b.json'], {}, '--openapi: The OpenAPI document does not say where the API is'],
  [['--openapi-url', 'https://a.example'], {}, '--openapi-url has no effect without --openapi FILE|URL'],
  [['--openapi', 'b.json', '--openapi-url', 'a.example'], {}, '--openapi-url: "a.example" is not a URL'],
  [['--openapi', 'b.json'], { MOORING_OPENAPI_TOKEN: '' }, 'MOORING_OPENAPI_TOKEN is set but empty'],
])('an API that cannot be used is a usage error: %j', async (args, env, message) => {
  put('a.json', '{"swagger":"2.0"}');
  put('b.json', '{"openapi":"3.1.0","paths":{}}');
  const { code, stderr } = await home.run(['serve', ...args], { input: ping, env });
  expect(code).toBe(2);
  expect(stderr.replaceAll(`${dirname(home.file('a'))}/`, '*/')).toContain(message);
});
