// `mooring serve clipboard` as a process: its pipes, its end, its log, and the sessions of the document as written.

import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Display, startX11 } from '../../support/display.ts';
import { cli } from '../../support/program.ts';
import { ensureProgram } from '../../support/programs.ts';
import { ServerProcess, useCommand } from '../../support/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

useCommand();

const secret = 'correct horse battery staple';

describe('without a display', () => {
  const start = (env: Record<string, string> = {}): ServerProcess => new ServerProcess(['serve', 'clipboard'], env);

  test('S0-29 S0-54: the documented error with a remedy, and the server keeps running', async () => {
    const server = start();
    await server.initialize();
    expect(await server.request('tools/call', { name: 'get_clipboard', arguments: {} }, 8)).toEqual({
      jsonrpc: '2.0',
      id: 8,
      error: {
        code: -32001,
        message: 'Clipboard error',
        data: {
          details: 'Failed to access system clipboard: No display environment available',
          remedy: expect.stringContaining('DISPLAY'),
        },
      },
    });
    expect((await server.call('set_clipboard', { text: 'x' })).error.code).toBe(-32001);
    expect((await server.request('tools/list')).result.tools).toHaveLength(2);
  });

  test('S0-2 S0-3 S0-44 S0-50: one line in, one line out at once, in UTF-8, no authentication', async () => {
    const server = start();
    server.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n');
    expect((await server.next()).id).toBe(1);
    server.write('{"jsonrpc":"2.0","id":"zażółć 🌍","method":"tools/list","params":{}}\n');
    expect((await server.next()).id).toBe('zażółć 🌍');
    expect(server.lines).toEqual([]);
  });

  test('S0-30: a line that is not JSON is answered with id null, and the server continues', async () => {
    const server = start();
    server.write('{"jsonrpc": broken\n');
    expect(await server.next()).toMatchObject({ id: null, error: { code: -32700, message: 'Parse error' } });
    expect((await server.initialize()).result).toBeDefined();
  });

  test('S0-45 S0-47: the end of stdin ends the server with 0, whatever the system', async () => {
    const server = start();
    await server.initialize();
    server.process.stdin?.end();
    expect(await server.exited).toBe(0);
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`S0-46: ${signal} ends the server with 0`, async () => {
      const server = start();
      await server.initialize();
      server.process.kill(signal);
      expect(await server.exited).toBe(0);
    });
  }

  test('S0-58: a line beyond every limit is rejected and forgotten', async () => {
    const server = start();
    await server.initialize();
    const piece = 'x'.repeat(1024 * 1024);
    server.write(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"set_clipboard","arguments":{"text":"',
    );
    for (let n = 0; n < 80; n++) server.write(piece);
    server.write('"}}}\n');
    server.send({ jsonrpc: '2.0', id: 3, method: 'ping' });
    expect((await server.answer(3)).result).toEqual({});
    expect(server.lines.map((line) => JSON.parse(line)).find((each) => each.error?.code === -32600)).toBeDefined();
  });

  test('S0-43 S0-55: debug shows messages, calls and failures with their stacks, only on stderr', async () => {
    const server = start({ MCP_LOG_LEVEL: 'DEBUG' });
    await server.initialize();
    await server.call('set_clipboard', { text: secret });
    await server.until(() =>
      server.stderr.includes('ended') && /set_clipboard/.test(server.stderr) ? true : undefined,
    );
    server.process.stdin?.end();
    await server.exited;
    for (const sign of ['received', 'started', 'ended', 'sent', 'tools/call', '-32001', '    at ']) {
      expect(server.stderr, sign).toContain(sign);
    }
    for (const line of server.lines) expect(JSON.parse(line).jsonrpc).toBe('2.0');
  });

  test('S0-56: MCP_LOG_JSON makes every line of the log JSON', async () => {
    const server = start({ MCP_LOG_LEVEL: 'DEBUG', MCP_LOG_JSON: 'true' });
    await server.initialize();
    await server.call('get_clipboard');
    server.process.stdin?.end();
    await server.exited;
    const records = server.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string });
    expect(records.length).toBeGreaterThan(4);
    expect(records.some((each) => each.level === 'debug')).toBe(true);
  });

  test('S0-8: the asynchronous client of the document gets its id back', async () => {
    const server = start();
    const response = await server.request(
      'initialize',
      { protocolVersion: '2024-11-05', clientInfo: { name: 'test', version: '1.0' } },
      'test-id',
    );
    expect(response).toMatchObject({ jsonrpc: '2.0', id: 'test-id', result: { protocolVersion: '2024-11-05' } });
  });
});

const hasPython = ensureProgram('python3');

test.skipIf(!hasPython)('the Python client of the document, as written', () => {
  const folder = temporaryFolder();
  const program = join(folder, 'mcp-clipboardify');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${cli}' serve clipboard\n`);
  chmodSync(program, 0o755);
  const script = `
import subprocess
import json

# Start the server
process = subprocess.Popen(
    ["mcp-clipboardify"],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True
)

# Send initialize request
init_request = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "my-client", "version": "1.0.0"}
    }
}

process.stdin.write(json.dumps(init_request) + '\\n')
process.stdin.flush()

# Read response
response = json.loads(process.stdout.readline())
print(response)
`;
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  const printed = spawnSync('python3', ['-c', script], { env, encoding: 'utf8', timeout: 20_000 }).stdout;
  expect(printed).toContain("'protocolVersion': '2024-11-05'");
  expect(printed).toContain("'name': 'mcp-clipboardify'");
});

const hasX11 = [ensureProgram('Xvfb'), ensureProgram('xclip')];

describe.skipIf(hasX11.includes(false))('on a display', () => {
  let display: Display;
  beforeAll(async () => {
    display = await startX11();
  });
  afterAll(() => display?.close());

  const start = (env: Record<string, string> = {}): ServerProcess =>
    new ServerProcess(['serve', 'clipboard'], { ...display.env, ...env });

  test('S0-52 S0-55: no level of the log ever shows the text, however it was sent', async () => {
    const server = start({ MCP_LOG_LEVEL: 'DEBUG' });
    await server.initialize();
    await server.call('set_clipboard', { text: secret });
    expect((await server.call('get_clipboard')).result.content[0].text).toBe(secret);
    await server.call('set_clipboard', { text: secret, extra: secret });
    await server.call('set_clipboard', { [secret]: 1 });
    await server.call('get_clipboard', { text: secret });
    server.send([{ jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'get_clipboard' } }]);
    server.write(`"${secret}"\n{"${secret}": \n{"params":{"note":"${secret}"}}\n`);
    server.process.stdin?.end();
    expect(await server.exited).toBe(0);
    expect(server.stderr).toContain('set_clipboard');
    for (const word of secret.split(' ')) expect(server.stderr).not.toContain(word);
  });

  test('the request and response flow of the document, as written', async () => {
    const server = start();
    const session: [object, object][] = [
      [
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2024-11-05',
            clientInfo: { name: 'example-client', version: '1.0.0' },
            capabilities: {},
          },
        },
        {
          jsonrpc: '2.0',
          id: 1,
          result: {
            protocolVersion: '2024-11-05',
            serverInfo: { name: 'mcp-clipboardify', version: '1.0.0' },
            capabilities: { tools: {} },
          },
        },
      ],
      [
        {
          jsonrpc: '2.0',
          id: 4,
          method: 'tools/call',
          params: { name: 'set_clipboard', arguments: { text: 'Hello, World! 🌍' } },
        },
        { jsonrpc: '2.0', id: 4, result: { content: [{ type: 'text', text: 'Text copied to clipboard' }] } },
      ],
      [
        { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'get_clipboard', arguments: {} } },
        { jsonrpc: '2.0', id: 3, result: { content: [{ type: 'text', text: 'Hello, World! 🌍' }] } },
      ],
      [
        { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'invalid_tool', arguments: {} } },
        {
          jsonrpc: '2.0',
          id: 5,
          error: { code: -32601, message: 'Method not found', data: { details: 'Unknown tool: invalid_tool' } },
        },
      ],
      [
        { jsonrpc: '2.0', id: 6, method: 'tools/call', params: { name: 'set_clipboard', arguments: {} } },
        {
          jsonrpc: '2.0',
          id: 6,
          error: {
            code: -32602,
            message: 'Invalid params',
            data: { details: "set_clipboard requires 'text' parameter" },
          },
        },
      ],
    ];
    for (const [request, response] of session) {
      server.send(request);
      expect(await server.next()).toEqual(response);
    }
  });

  test('S0-35 S0-40: the batch of the document, as written', async () => {
    const server = start();
    await server.initialize();
    await server.call('set_clipboard', { text: 'Previous clipboard content' });
    server.lines.length = 0;
    server.write(
      `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_clipboard","arguments":{}}},
`.replace('\n', ''),
    );
    server.write(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"set_clipboard","arguments":{"text":"Batch operation result"}}}]\n',
    );
    expect(await server.next()).toEqual([
      { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'Previous clipboard content' }] } },
      { jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: 'Text copied to clipboard' }] } },
    ]);
    expect((await server.call('get_clipboard')).result.content[0].text).toBe('Batch operation result');
  });

  test('the minimal test case of the document, as written', async () => {
    const server = start();
    await server.request('initialize', { protocolVersion: '2024-11-05' });
    await server.request('tools/call', { name: 'set_clipboard', arguments: { text: 'test content' } });
    const response = await server.request('tools/call', { name: 'get_clipboard', arguments: {} });
    expect(response.result.content[0].text).toBe('test content');
  });
});
