// The four profiles as processes: pipes, HTTP, WebSocket, their logs and their end, as a person runs them.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startFakeDuckDuckGo } from '../support/fake-duckduckgo.ts';
import { afterwards, makeFolder, useProfiles } from '../support/profile.ts';
import { cli } from '../support/program.ts';
import { type Answer, ServerProcess, useCommand } from '../support/server-process.ts';
import { haveSandbox as available, processes } from './system/session.ts';

useProfiles();
useCommand();

const run = promisify(execFile);

/** A configuration file with options of packs. */
function config(packs: object): string {
  const path = join(makeFolder(), 'mooring.json');
  writeFileSync(path, JSON.stringify({ packs }));
  return path;
}

function start(profile: string, args: readonly string[] = [], env: Record<string, string> = {}): ServerProcess {
  return new ServerProcess(['serve', profile, '--data', makeFolder(), ...args], { MCP_LOG_LEVEL: 'info', ...env });
}

const noBus = { dbus: { buses: [] } };

describe('secure-local', () => {
  test('S2-2 S2-3 S2-33: one message per line both ways, the log only on stderr; the example session', async () => {
    const engine = await startFakeDuckDuckGo();
    afterwards(() => engine.close());
    const server = start('secure-local', ['--config', config({ search: { url: engine.url } })]);
    server.write(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"test","version":"1.0"},"capabilities":{}}}\n' +
        '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' +
        '{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n' +
        '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"web_search","arguments":{"query":"hello"}}}\n',
    );
    expect((await server.answer(1)).result.serverInfo).toEqual({ name: 'mcp-secure-local', version: '1.0.0' });
    expect((await server.answer(3)).result).toMatchObject({
      content: [{ type: 'text', text: expect.stringMatching(/^Search results for: hello\n\n1\. /) }],
      isError: false,
    });
    server.process.stdin?.end();
    expect(await server.exited).toBe(0);
    expect(server.lines).toHaveLength(3);
    for (const line of server.lines) expect(JSON.parse(line).jsonrpc).toBe('2.0');
    expect(server.stderr).toContain('Server running');
  });
});

describe('empirical', () => {
  test('S3-1 S3-2 S3-3: stdout carries only the protocol; "Server running" is on stderr', async () => {
    const server = start('empirical', [], { MCP_LOG_LEVEL: 'debug' });
    await server.until(() => (server.stderr.includes('Server running') ? true : undefined));
    expect(server.lines).toEqual([]);
    await server.initialize();
    expect((await server.request('tools/list', {})).result.tools).toHaveLength(2);
    expect((await server.call('health_check', {})).result.content[0].type).toBe('text');
    expect(server.lines).toHaveLength(3);
  });

  test('S3-29: what makes a start impossible is said on stderr, and the exit code is 1', async () => {
    const server = start('orchestrator', ['--allow-command', 'no-such-program']);
    expect(await server.exited).toBe(1);
    expect(server.stderr).toContain('no-such-program');
    expect(server.lines).toEqual([]);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`S3-30: ${signal} is noted on stderr, stops the server and exits with 0`, async () => {
      const server = start('empirical');
      await server.initialize();
      server.process.kill(signal);
      expect(await server.exited).toBe(0);
      expect(server.stderr).toContain(`${signal}: stopping`);
    });
  }
});

describe.skipIf(!available)('orchestrator', () => {
  test('a server that is killed leaves no worker behind, and the next one says that it is lost', async () => {
    const data = makeFolder();
    const args = ['serve', 'orchestrator', '--data', data, '--allow-command', 'sleep', '--allow-command', 'sh'];
    const server = new ServerProcess(args);
    await server.initialize();
    await server.call('start_worker', { program: 'sleep', args: ['31536006'], restart: 'always', name: 'one' });
    await server.call('start_worker', { program: 'sh', args: ['-c', 'sleep 31536006 & sleep 31536006'], name: 'two' });
    await expect.poll(() => processes('sleep 31536006')).toBeGreaterThanOrEqual(3);
    await server.kill();
    await expect.poll(() => processes('sleep 31536006')).toBe(0);
    const next = new ServerProcess(args);
    await next.initialize();
    const { workers } = JSON.parse((await next.call('list_workers', {})).result.content[0].text);
    expect(workers.map(({ name, status }: Answer) => [name, status])).toEqual([
      ['one', 'lost'],
      ['two', 'lost'],
    ]);
  });

  test('the end of the connection ends workers too', async () => {
    const server = start('orchestrator', ['--allow-command', 'sleep']);
    await server.initialize();
    await server.call('start_worker', { program: 'sleep', args: ['31536007'] });
    server.process.stdin?.end();
    expect(await server.exited).toBe(0);
    expect(processes('sleep 31536007')).toBe(0);
  });
});

describe.skipIf(!available)('system over stdio', () => {
  test('S4-1 S4-52: works in a shell pipe', async () => {
    const messages = [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"ls","args":["-la","/tmp"]}}}',
    ].join('\\n');
    const pipe = `printf '${messages}\\n' | "$0" "$1" serve system --data "$2" --config "$3" | head -2`;
    const { stdout } = await run('sh', ['-c', pipe, process.execPath, cli, makeFolder(), config(noBus)]);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers[0].result.protocolVersion).toBe('2024-11-05');
    expect(answers[1].result.content[0].text).toMatch(/^total /);
  });

  test('a server that is killed leaves no command behind', async () => {
    const server = start('system', ['--config', config(noBus)]);
    await server.initialize();
    server.send({
      jsonrpc: '2.0',
      id: 9,
      method: 'tools/call',
      params: { name: 'execute_command', arguments: { command: 'sleep', args: ['31536008'] } },
    });
    await expect.poll(() => processes('sleep 31536008')).toBeGreaterThan(0);
    await server.kill();
    await expect.poll(() => processes('sleep 31536008')).toBe(0);
  });

  test('S4-49: the audit log is in the data folder by default', async () => {
    const data = makeFolder();
    const server = new ServerProcess(['serve', 'system', '--data', data, '--config', config(noBus)]);
    await server.initialize();
    await server.call('execute_command', { command: 'echo', args: ['hi'] });
    server.process.stdin?.end();
    expect(await server.exited).toBe(0);
    const { stdout } = await run('sh', ['-c', 'cat "$0"/*.jsonl', data]);
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entries.find(({ event }: Answer) => event === 'call')).toMatchObject({
      ...{ name: 'execute_command', outcome: 'ok', transport: 'stdio', arguments: { command: 'echo', args: ['hi'] } },
    });
  });
});

describe.skipIf(!available)('system over HTTP and WebSocket', () => {
  async function isFree(port: number): Promise<boolean> {
    const probe = createServer();
    try {
      probe.listen(port, '127.0.0.1');
      await once(probe, 'listening');
      return true;
    } catch {
      return false;
    } finally {
      probe.close();
    }
  }

  /** On the port of the document where that is free. */
  async function serve(env: Record<string, string> = {}): Promise<{ server: ServerProcess; base: string }> {
    const port = (await isFree(8080)) ? [] : ['--port', '0'];
    const server = start('system', ['--http', '--config', config(noBus), ...port], env);
    const url = await server.until(() => /listening on http:\/\/(\S+)\/mcp/.exec(server.stderr)?.[1]);
    return { server, base: url.replace('127.0.0.1', 'localhost') };
  }

  const post = (base: string, path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`http://${base}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });

  test('S4-1 S4-53: POST /message takes JSON-RPC and replies in the body', async () => {
    const { base } = await serve();
    const listed = await post(base, '/message', { id: 1, method: 'tools/list' });
    expect(listed.status).toBe(200);
    expect(listed.headers.get('content-type')).toMatch(/^application\/json/);
    expect(((await listed.json()) as Answer).result.tools[0].name).toBe('execute_command');
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const greeted = await post(base, '/message', { id: 2, method: 'initialize', params });
    expect(((await greeted.json()) as Answer).result.capabilities.tools).toEqual({ listChanged: true });
    expect((await post(base, '/message', { method: 'notifications/initialized' })).status).toBe(202);
    const plain = await fetch(`http://${base}/message`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: '{}',
    });
    expect(plain.status).toBe(415);
  });

  /** A WebSocket and what came on it. */
  async function connect(base: string, headers: Record<string, string> = {}) {
    const socket = new WebSocket(`ws://${base}/mcp`, { headers });
    const received: Answer[] = [];
    const waiting: (() => void)[] = [];
    socket.on('message', (data, isBinary) => {
      expect(isBinary).toBe(false);
      received.push(JSON.parse(String(data)));
      for (const wake of waiting.splice(0)) wake();
    });
    await once(socket, 'open');
    afterwards(() => socket.terminate());
    const next = async (fits: (message: Answer) => boolean): Promise<Answer> => {
      for (;;) {
        const found = received.find(fits);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    };
    const send = (message: object): void => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    return { socket, send, next, received };
  }

  test('S4-54 S4-55 S4-56: a WebSocket without a subprotocol carries one message per text frame, both ways', async () => {
    const { base } = await serve();
    const { socket, send, next } = await connect(base);
    expect(socket.protocol).toBe('');
    const clientInfo = { name: 'x', version: '1' };
    send({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2024-11-05', capabilities: { sampling: {} }, clientInfo },
    });
    expect((await next(({ id }) => id === 1)).result.protocolVersion).toBe('2024-11-05');
    send({ method: 'notifications/initialized' });
    send({
      id: 2,
      method: 'tools/call',
      params: { name: 'ask_model', arguments: { question: 'What is the capital of France?' } },
    });
    const question = await next(({ method }) => method === 'sampling/createMessage');
    const content = { type: 'text', text: 'The capital of France is Paris.' };
    send({ id: question.id, result: { role: 'assistant', content, model: 'm', stopReason: 'endTurn' } });
    const { result } = await next(({ id }) => id === 2);
    expect(JSON.parse(result.content[0].text).answer).toBe('The capital of France is Paris.');
    send({
      id: 3,
      method: 'tools/call',
      params: { name: 'execute_command', arguments: { command: 'sleep', args: ['1'] }, _meta: { progressToken: 'p' } },
    });
    await next(({ method, params }) => method === 'notifications/progress' && params.progress > 0);
    expect((await next(({ id }) => id === 3)).result.isError).toBeUndefined();
  });

  test('S4-57: with a token configured, requests without it are rejected on both transports', async () => {
    const token = 'a-token-of-at-least-thirty-two-characters';
    const { base } = await serve({ MOORING_TOKEN: token });
    expect((await post(base, '/message', { id: 1, method: 'ping' })).status).toBe(401);
    const authorization = `Bearer ${token}`;
    expect((await post(base, '/message', { id: 1, method: 'tools/list' }, { authorization })).status).toBe(200);
    const rejected = new WebSocket(`ws://${base}/mcp`);
    const [, response] = (await once(rejected, 'unexpected-response')) as [
      unknown,
      { statusCode: number; destroy(): void },
    ];
    expect(response.statusCode).toBe(401);
    response.destroy();
    const { send, next } = await connect(base, { authorization });
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2024-11-05' } });
    expect((await next(({ id }) => id === 1)).result).toBeDefined();
  });
});
