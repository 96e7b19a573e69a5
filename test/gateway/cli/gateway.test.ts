// `mooring gateway` through the wire: files of clients in, one server out.

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { type Client, connect } from '../../../src/client/index.ts';
import { useHome } from '../../support/program.ts';
import { connectStdio, runtimeOf, serverEntry, startHttp, textOf, toolNames, writeConfig } from './support.ts';

const home = useHome();

async function using<T>(opening: Promise<Client>, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await opening;
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

test('a pasted file is one server on stdio: names have a prefix, calls reach their server', async () => {
  const files = serverEntry(home, 'files', [{ name: 'read' }, { name: 'write' }]);
  const notes = serverEntry(home, 'notes', [{ name: 'read' }]);
  const config = writeConfig(home, { mcpServers: { files, 'My Notes': notes, off: { ...files, disabled: true } } });
  await using(connectStdio(home, ['--config', config]), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read', 'files__write', 'my-notes__read']);
    const result = JSON.parse(textOf(await client.callTool('my-notes__read', { a: 1 })));
    expect(result).toMatchObject({ name: 'read', args: { a: 1 } });
  });
});

test('~ is the home folder: clients start commands without a shell', async () => {
  const config = writeConfig(home, { mcpServers: { files: serverEntry(home, 'files', [{ name: 'read' }]) } });
  await using(connectStdio(home, ['--config', `~/${relative(home.path, config)}`]), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read']);
  });
});

test('several files, the keys of VS Code, and a file of settings together', async () => {
  const one = writeConfig(home, { servers: { one: serverEntry(home, 'one', [{ name: 'a' }]) } }, 'vscode.json');
  const two = writeConfig(
    home,
    {
      http: { port: 1 },
      mcpServers: { two: serverEntry(home, 'two', [{ name: 'b' }], { mooring: { prefix: 'zwei' } }) },
    },
    'mooring.json',
  );
  await using(connectStdio(home, ['--config', one, '--config', two]), async (client) => {
    expect(await toolNames(client)).toEqual(['one__a', 'zwei__b']);
  });
});

test('views and single servers have addresses of their own, and a view is enforced on calls', async () => {
  const config = writeConfig(home, {
    mcpServers: {
      files: serverEntry(home, 'files', [{ name: 'read' }, { name: 'write' }]),
      notes: serverEntry(home, 'notes', [{ name: 'add' }]),
    },
    gateway: { views: { safe: { servers: ['files'], tools: { exclude: ['*__write'] } }, big: { mode: 'search' } } },
  });
  const { url } = await startHttp(home, ['--config', config]);
  expect(new URL(url).pathname).toBe('/mcp');
  await using(connect(url), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read', 'files__write', 'notes__add']);
  });
  await using(connect(`${url}/v/safe`), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read']);
    await expect(client.callTool('files__write', {})).rejects.toThrow('Unknown tool');
    await expect(client.callTool('notes__add', {})).rejects.toThrow('Unknown tool');
  });
  await using(connect(`${url}/s/notes`), async (client) => {
    expect(await toolNames(client)).toEqual(['add']);
    expect(JSON.parse(textOf(await client.callTool('add', {})))).toMatchObject({ name: 'add' });
  });
  await using(connect(`${url}/v/big`), async (client) => {
    expect(await toolNames(client)).toEqual(['search_tools', 'describe_tool', 'call_tool']);
    const result = await client.callTool('call_tool', { name: 'notes__add', arguments: { x: 1 } });
    expect(JSON.parse(textOf(result))).toMatchObject({ name: 'add', args: { x: 1 } });
  });
  // The default view by its name: the same as the endpoint, with its sessions.
  await using(connect(`${url}/v/default`), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read', 'files__write', 'notes__add']);
  });
  for (const path of ['/v/none', '/s/none', '/x']) {
    const response = await fetch(`${url}${path}`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(404);
  }
});

test('--view chooses what is served at the endpoint; an unknown view is an error', async () => {
  const config = writeConfig(home, {
    mcpServers: {
      files: serverEntry(home, 'files', [{ name: 'read' }]),
      notes: serverEntry(home, 'notes', [{ name: 'add' }]),
    },
    gateway: { views: { only: { servers: ['notes'] } } },
  });
  await using(connectStdio(home, ['--config', config, '--view', 'only']), async (client) => {
    expect(await toolNames(client)).toEqual(['notes__add']);
  });
  // The name of the view of /mcp in the file.
  await using(connectStdio(home, ['--config', config, '--view', 'default']), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read', 'notes__add']);
  });
  for (const name of ['onyl', '']) {
    const { code, stderr } = await home.run(['gateway', '--config', config, '--view', name], { env: runtimeOf(home) });
    const why = `There is no view "${name}"; the configuration has only`;
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  }
});

test('the view of the endpoint cannot be removed while it is served, and its tools are those that "tools" lists', async () => {
  const files = serverEntry(home, 'files', [{ name: 'read' }]);
  const notes = serverEntry(home, 'notes', [{ name: 'add' }]);
  const configWith = (views: object) => writeConfig(home, { mcpServers: { files, notes }, gateway: { views } });
  const config = configWith({ only: { servers: ['notes'] } });
  const gateway = await startHttp(home, ['--config', config, '--view', 'only']);
  const listed = async () => {
    const { stdout } = await home.run(['gateway', 'tools', '--json'], { env: runtimeOf(home) });
    return JSON.parse(stdout).tools.map(({ name }: { name: string }) => name);
  };
  await using(connect(gateway.url), async (client) => {
    expect(await toolNames(client)).toEqual(['notes__add']);
    expect(await listed()).toEqual(['notes__add']);
    configWith({ other: { servers: ['files'] } });
    expect(await gateway.line(/configuration was not reloaded/)).toContain('There is no view');
    configWith({ only: { servers: ['files'] } });
    await gateway.line(/configuration of the gateway was reloaded/);
    expect(await toolNames(client)).toEqual(['files__read']);
    expect(await listed()).toEqual(['files__read']);
  });
});

test('one command behind HTTP, and one URL on stdio: a bridge with the names of the server', async () => {
  const { command, args } = serverEntry(home, 'files', [{ name: 'read' }]) as { command: string; args: string[] };
  const { url } = await startHttp(home, ['--', command, ...args]);
  await using(connect(url), async (client) => expect(await toolNames(client)).toEqual(['read']));
  await using(connectStdio(home, [url]), async (client) => {
    expect(await toolNames(client)).toEqual(['read']);
    expect(JSON.parse(textOf(await client.callTool('read', {})))).toMatchObject({ name: 'read' });
  });
});

test('serve --gateway adds the servers to a profile', async () => {
  const files = serverEntry(home, 'files', [{ name: 'read' }]);
  const bare = serverEntry(home, 'bare', [{ name: 'test_simple_text' }, { name: 'own' }]);
  const config = writeConfig(home, { mcpServers: { files, bare: { ...bare, mooring: { prefix: false } } } });
  const { url } = await startHttp(home, ['--gateway', config], {}, ['serve', 'everything']);
  await using(connect(url), async (client) => {
    const names = await toolNames(client);
    expect(names).toContain('test_simple_text');
    expect(names).toContain('files__read');
    expect(names).toContain('own');
    expect(names).toContain('bare__test_simple_text');
    expect(JSON.parse(textOf(await client.callTool('files__read', {})))).toMatchObject({ name: 'read' });
  });
  await using(connect(`${url}/s/files`), async (client) => expect(await toolNames(client)).toEqual(['read']));
});

test('lists are shown from disk before a server was started again', async () => {
  const entry = serverEntry(home, 'files', [{ name: 'read' }]);
  const config = writeConfig(home, { mcpServers: { files: entry } });
  await using(connectStdio(home, ['--config', config]), toolNames);
  // The server cannot be started any more: its list is still known.
  const tools = home.file('files-tools.json');
  writeFileSync(tools, 'not JSON');
  await using(connectStdio(home, ['--config', config]), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read']);
  });
});

test('a changed file is applied while clients are connected; a broken one changes nothing', async () => {
  const files = serverEntry(home, 'files', [{ name: 'read' }]);
  const config = writeConfig(home, { mcpServers: { files } });
  const gateway = await startHttp(home, ['--config', config]);
  await using(connect(gateway.url), async (client) => {
    const pid = JSON.parse(textOf(await client.callTool('files__read', {}))).pid;
    writeConfig(home, { mcpServers: { files, notes: serverEntry(home, 'notes', [{ name: 'add' }]) } });
    await gateway.line(/configuration of the gateway was reloaded/);
    expect(await toolNames(client)).toEqual(['files__read', 'notes__add']);
    // The server that has not changed goes on.
    expect(JSON.parse(textOf(await client.callTool('files__read', {}))).pid).toBe(pid);
    writeFileSync(config, '{ "mcpServers": { "files": { "command": "x", "mooring": { "pinn": 1 } } } }');
    gateway.child.kill('SIGHUP');
    expect(await gateway.line(/configuration was not reloaded/)).toContain('did you mean "pin"?');
    expect(await toolNames(client)).toEqual(['files__read', 'notes__add']);
    const status = await home.run(['gateway', 'status', '--json'], { env: runtimeOf(home) });
    expect(JSON.parse(status.stdout).gateways[0].problem).toContain('pinn');
  });
});

test('a note about the file is logged once, however often the file is written', async () => {
  const files = serverEntry(home, 'files', [{ name: 'read' }], { colour: 'red' });
  const config = writeConfig(home, { mcpServers: { files } });
  const gateway = await startHttp(home, ['--config', config]);
  await gateway.line(/files: unknown keys, without effect: colour/);
  const notes = serverEntry(home, 'notes', [{ name: 'add' }], { flavour: 'sweet' });
  writeConfig(home, { mcpServers: { files, notes } });
  await gateway.line(/notes: unknown keys, without effect: flavour/);
  expect(gateway.said().match(/unknown keys/g)).toHaveLength(2);
});

test('a view that is added is served after SIGHUP, and needs no restart', async () => {
  const files = serverEntry(home, 'files', [{ name: 'read' }]);
  const config = writeConfig(home, { mcpServers: { files }, gateway: { views: {} } });
  const gateway = await startHttp(home, ['--config', config]);
  writeConfig(home, { mcpServers: { files }, gateway: { views: { safe: { servers: ['files'] } } } });
  gateway.child.kill('SIGHUP');
  await gateway.line(/settings reloaded/);
  await using(connect(`${gateway.url}/v/safe`), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read']);
  });
  expect(gateway.said()).not.toContain('need a restart');
});

test('a caller that cannot list tasks is not told that it can, also before the servers are known', async () => {
  const mooring = { override: { read: { taskSupport: 'optional' } } };
  const config = writeConfig(home, {
    mcpServers: { files: serverEntry(home, 'files', [{ name: 'read' }], { mooring }) },
  });
  const { url } = await startHttp(home, ['--config', config]);
  for (const _time of ['before', 'after']) {
    await using(connect(url, { revision: '2025-11-25' }), async (client) => {
      expect(client.capabilities['tasks']).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
      expect(await toolNames(client)).toEqual(['files__read']);
    });
  }
});

test('a server gets a minimal environment and the variables of its entry', async () => {
  const files = serverEntry(home, 'files', [{ name: 'env' }], {
    env: { OWN: '1' },
    mooring: { inheritEnv: ['SHARED'] },
  });
  const config = writeConfig(home, { mcpServers: { files } });
  const env = { SHARED: '1', SECRET_OF_SHELL: '1', MOORING_TOKEN: 'a-token-that-is-long-enough' };
  await using(connectStdio(home, ['--config', config], env), async (client) => {
    const names = JSON.parse(textOf(await client.callTool('files__env', {})));
    expect(names).toEqual(expect.arrayContaining(['OWN', 'PATH', 'SHARED']));
    expect(names).not.toContain('SECRET_OF_SHELL');
    expect(names).not.toContain('MOORING_TOKEN');
  });
});

test('policy, limits and audit apply to the names at the gateway, at every address', async () => {
  const config = writeConfig(home, {
    mcpServers: { files: serverEntry(home, 'files', [{ name: 'read' }, { name: 'write' }]) },
    gateway: { views: { big: { mode: 'search' } } },
  });
  const policy = home.file('policy.json');
  writeFileSync(
    policy,
    JSON.stringify({ version: 1, rules: [{ effect: 'allow', tools: ['files__read', '*_tool*', 'read'] }] }),
  );
  const audit = home.file('audit.jsonl');
  const { url } = await startHttp(home, ['--config', config, '--policy', policy, '--audit', audit]);
  await using(connect(url), async (client) => {
    expect(await toolNames(client)).toEqual(['files__read']);
    await expect(client.callTool('files__write', {})).rejects.toThrow('Unknown tool');
    await client.callTool('files__read', {});
  });
  await using(connect(`${url}/v/big`), async (client) => {
    await expect(client.callTool('call_tool', { name: 'files__write' })).rejects.toThrow('Unknown tool: files__write');
    await client.callTool('call_tool', { name: 'files__read' });
  });
  await using(connect(`${url}/s/files`), async (client) => {
    expect(await toolNames(client)).toEqual(['read']);
    await client.callTool('read', {});
  });
  await expect
    .poll(() =>
      readFileSync(audit, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"event":"call"') && line.includes('"outcome":"ok"'))
        .map((line) => JSON.parse(line))
        .map(({ name, upstream }) => [name, upstream]),
    )
    .toEqual([
      ['files__read', 'files'],
      ['files__read', 'files'],
      ['read', 'files'],
    ]);
});

test('neither the token nor other headers of a caller reach a server, except those that its entry names', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const upstream = createServer((request, response) => {
    seen.push(request.headers);
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    request.on('end', () => respond(response, text));
  });
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
  const { port } = upstream.address() as AddressInfo;
  const mooring = { forwardHeaders: ['X-Team'] };
  const config = writeConfig(home, { mcpServers: { far: { url: `http://127.0.0.1:${port}/mcp`, mooring } } });
  const token = 'caller-token-that-is-long-enough-0123456789';
  const { url } = await startHttp(home, ['--config', config], { MOORING_TOKEN: token });
  const headers = { Authorization: `Bearer ${token}`, 'X-Team': 'blue', 'X-Other': 'red' };
  try {
    await using(connect(url, { headers }), async (client) => {
      expect(textOf(await client.callTool('far__hello', {}))).toBe('hello');
    });
    expect(JSON.stringify(seen)).not.toContain('caller-token');
    expect(seen.every((each) => each['x-other'] === undefined)).toBe(true);
    expect(seen.at(-1)?.['x-team']).toBe('blue');
  } finally {
    upstream.closeAllConnections();
    upstream.close();
  }
});

/** A server of 2025-06-18 without sessions and streams. */
function respond(response: ServerResponse, text: string): void {
  const { id, method } = text === '' ? {} : JSON.parse(text);
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'far', version: '1' },
    },
    'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'hello' }] },
  };
  if (method === undefined) return void response.writeHead(405).end();
  if (id === undefined) return void response.writeHead(202).end();
  const answer = results[method]
    ? { result: results[method] }
    : { error: { code: -32601, message: 'Method not found' } };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}

test('broken configurations end with 2 and say what is wrong', async () => {
  const run = (content: string) => {
    const file = join(home.folder, 'x.json');
    writeFileSync(file, content, { mode: 0o600 });
    return home.run(['gateway', '--config', file], { env: runtimeOf(home) });
  };
  expect(await run('{ "mcpServers": { "a": { "command": "x", } }')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/x\.json:1:/),
  });
  expect(await run('{ "mcpServers": { "a b": { "command": "x" }, "a_b": { "command": "x" } } }')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('would both be called a-b'),
  });
  expect(await home.run(['gateway'], { env: runtimeOf(home) })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Name the file of a client with --config FILE'),
  });
  expect(await home.run(['gateway', 'statsu'], { env: runtimeOf(home) })).toMatchObject({ code: 2 });
});
