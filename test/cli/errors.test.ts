// How commands fail: exit codes, errors as JSON, suggestions, and advice on wrong addresses.

import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli, useHome } from '../support/program.ts';

const home = useHome();
let web: Server;
let origin = '';

beforeAll(async () => {
  web = createServer((_request, response) => response.writeHead(404).end('<html>a long page</html>'));
  await new Promise<void>((ready) => web.listen(0, '127.0.0.1', ready));
  origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
afterAll(() => void web.close());

/** Runs `use` with the address of a web server that handles every request with `respond`. */
async function withResponse<T>(
  respond: (response: ServerResponse) => void,
  use: (address: string) => Promise<T>,
): Promise<T> {
  const server = createServer((_request, response) => respond(response));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  } finally {
    server.close();
  }
}

test.each([
  [['tols', '--json'], 2, 'usage'],
  [['tools', 'local', '--jsn', '--json'], 2, 'usage'],
  [['serve', '--prot', '1', '--json'], 2, 'usage'],
  [['install', 'cursr', '--json'], 2, 'usage'],
  [['list', 'cursr', '--json'], 2, 'usage'],
  [['init', '--json'], 2, 'usage'],
  [['config', '--config', 'no-such-file.json', '--json'], 2, 'usage'],
  [['policy', 'check', 'no-such-file.yaml', '--json'], 2, 'usage'],
  [['policy', '--json'], 2, 'usage'],
  [['audit', '--json'], 2, 'usage'],
  [['audit', 'verfy', '--json'], 2, 'usage'],
  [['token', 'ad', '--json'], 2, 'usage'],
  [['notes', 'delet', '--json'], 2, 'usage'],
  [['logout', 'local', '--json'], 2, 'usage'],
  [['doctor', '--timeout', 'x', '--json'], 2, 'usage'],
  [['ping', 'http://127.0.0.1:1/mcp', '--json'], 1, 'connect-failed'],
  [['call', 'no-such-program --x', 'time', '--json'], 1, 'spawn-failed'],
  [['read', 'reference', 'no-such://thing', '--json'], 1, 'resource-not-found'],
  [['tools', 'local', 'tiem', '--json'], 2, 'usage'],
] as const)('%j ends with exit code %i and a JSON error with code %s', async (args, exitCode, code) => {
  const ended = await home.run(args);
  expect(ended.code).toBe(exitCode);
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code, exitCode, message: expect.any(String) } });
});

test.runIf(process.platform === 'linux')('output that cannot be written is a failure with a reason', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [cli, 'config', 'schema'], {
    env: home.env,
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  expect([status, String(stderr)]).toEqual([
    1,
    expect.stringMatching(/^mooring: The output cannot be written: .*no space.*\n$/),
  ]);
});

test.runIf(process.platform === 'linux')('a pipe as policy is a usage error, and is not waited for', async () => {
  execFileSync('mkfifo', ['-m', '600', home.file('policy.yaml')]);
  for (const args of [
    ['serve', '--policy', 'policy.yaml'],
    ['policy', 'check', 'policy.yaml'],
  ]) {
    const { code, stderr } = await home.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining('policy.yaml is not a regular file')]);
  }
});

test('a port in use is a failure, not a usage error', async () => {
  const port = new URL(origin).port;
  for (const args of [
    ['serve', '--http'],
    ['inspect', 'local', '--no-open'],
  ]) {
    const { code, stderr } = await home.run([...args, '--port', port]);
    expect([args[0], code, stderr]).toEqual([args[0], 1, expect.stringContaining('is already in use')]);
  }
});

test('a server that ends with a known error is reported with what to do about it', async () => {
  writeFileSync(home.file('server.mjs'), "import 'no-such-package';");
  const { code, stderr } = await home.run(['tools', 'node server.mjs']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/exited with code 1.*no-such-package.*\nInstall the dependencies of the server .*\n$/s);
  const missing = await home.run(['tools', 'node missing.mjs']);
  expect(missing.stderr).toMatch(/exited with code 1.*missing\.mjs.*\nCheck the path of the script\. .*\n$/s);
});

test('the attempts are part of the JSON error', async () => {
  const { stdout } = await home.run(['ping', `${origin}/foo`, '--json']);
  const { error } = JSON.parse(stdout);
  expect(error.code).toBe('not-mcp');
  expect(error.tried.length).toBeGreaterThan(1);
});

test.each([
  [['tools', 'local', '--jsno'], 'Unknown option --jsno; did you mean --json?'],
  [['serve', '--prot', '1'], 'Unknown option --prot; did you mean --port?'],
  [['call', 'local', 'calculate', '--operation', 'add'], 'write --arg operation=value'],
  [['prompt', 'local', 'greeting', '--name', 'Ada'], 'write --arg name=value'],
  [
    ['install', 'cursor', '--root', '.'],
    '--root is an option of "mooring serve", so it goes after --: mooring install cursor -- --root',
  ],
  [['serve', '.'], '\nTo offer the files in this folder: mooring serve --root .\n'],
  [['/tmp'], '\nTo offer the files in this folder: mooring serve --root /tmp\n'],
  [
    ['gateway', 'servers.json'],
    'Name a configuration file with --config, as in: mooring gateway --config servers.json',
  ],
  [['doctor', 'cursr'], 'Unknown target "cursr"; did you mean "cursor"?'],
  [['doctr'], 'Unknown command "doctr"; did you mean "doctor"?'],
  [['ping', 'locl'], 'did you mean "local"?'],
  [['ping', 'localhost:8000/mcp'], '"localhost:8000/mcp" is not a URL; did you mean http://localhost:8000/mcp?'],
  [['tools', 'example.com/mcp'], '"example.com/mcp" is not a URL; did you mean https://example.com/mcp?'],
  [['tools', '127.0.0.1/mcp'], '"127.0.0.1/mcp" is not a URL; did you mean http://127.0.0.1/mcp?'],
  [['ping', 'htp://127.0.0.1/mcp'], 'did you mean http://127.0.0.1/mcp?'],
  [
    ['prompt', 'everything', 'test_simple_promt'],
    'There is no prompt "test_simple_promt"; did you mean test_simple_prompt?',
  ],
  [['prompt', 'local', 'nope'], 'There is no prompt "nope"; the server has '],
  [['serve', '--http', '--port', '0', '--public-url', 'nope'], '--public-url: "nope" is not a URL; write'],
  [['serve', '--http', '--port', '0', '--allow-origin', 'nope'], '--allow-origin: "nope" is not an origin; write'],
])('%j gets a suggestion', async (args, text) => {
  const { code, stderr } = await home.run(args);
  expect(code).toBe(2);
  expect(stderr).toContain(text);
});

test('a wrong URL gets advice, and -v shows what was tried', async () => {
  const { code, stderr } = await home.run(['ping', `${origin}/foo`]);
  expect(code).toBe(1);
  expect(stderr).toBe(
    `mooring: There is no MCP server at ${origin}/foo (HTTP 404)\nCheck the path: most servers use /mcp. "mooring doctor ${origin}/foo" finds out more, and -v shows what was tried\n`,
  );
  const verbose = await home.run(['ping', `${origin}/foo`, '-v']);
  expect(verbose.stderr).toMatch(/\nTried:\n {2}server\/discover /);
});

test('a server that rejects the host name is quoted, and is not called absent', async () => {
  const { code, stderr } = await withResponse(
    (response) => {
      response.writeHead(403, { 'Content-Type': 'application/json' });
      response.end(
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Forbidden: Host \\"a\\" is not allowed"}}',
      );
    },
    (address) => home.run(['ping', address]),
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^mooring: The server rejected initialize: Forbidden: Host "a" is not allowed \(-32000\)\n"mooring doctor http:.*" finds out more\n$/,
  );
});

test('an address that closes connections without a response gets advice', async () => {
  const { code, stderr } = await withResponse(
    (response) => void response.destroy(),
    (address) => home.run(['ping', address]),
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(/was lost: .*\nIf the server uses TLS, its address begins with https\. "mooring doctor http:/);
});

test.each([
  ['ping', 1],
  ['doctor', 1],
])('%s of a WebSocket at a server without one says so, and what to use', async (command, exitCode) => {
  const address = `${origin.replace('http', 'ws')}/mcp`;
  const { code, stdout, stderr } = await home.run([command, address]);
  expect(code).toBe(exitCode);
  expect(`${stdout}${stderr}`.replace(/\s+/g, ' ')).toContain(
    `"${address}" accepts no WebSocket (HTTP 404). Check the path, or connect over HTTP: ${origin}/mcp`,
  );
});

test.each([
  [['tools', 'node', 'server.mjs'], 'A command line must be in quotes: mooring tools "node server.mjs"'],
  [['tools', 'node', 'server.mjs', 'add'], 'mooring tools "node server.mjs" add'],
  [['tools', 'npx', 'some-server'], 'mooring tools "npx some-server"'],
  [['ping', 'node', 'server.mjs'], 'mooring ping "node server.mjs"'],
  [['resources', 'node', 'server.mjs'], 'mooring resources "node server.mjs"'],
  [['prompts', 'node', 'server.mjs'], 'mooring prompts "node server.mjs"'],
  [['skills', 'node', 'server.mjs'], 'mooring skills "node server.mjs"'],
  [['watch', 'node', 'server.mjs'], 'mooring watch "node server.mjs"'],
  [['doctor', 'node', 'server.mjs'], 'mooring doctor "node server.mjs"'],
  [['call', 'node', 'server.mjs', 'add'], 'mooring call "node server.mjs" add'],
  [['call', 'npx', 'some-server', 'add'], 'mooring call "npx some-server" add'],
  [['read', 'node', 'server.mjs'], 'mooring read "node server.mjs" <uri>'],
  [['prompt', 'node', 'server.mjs', 'greet'], 'mooring prompt "node server.mjs" greet'],
  [['tools', 'server.mjs'], 'Name the program that runs it, in quotes: "node server.mjs"'],
  [['tools', './server.mjs'], 'Name the program that runs it, in quotes: "node ./server.mjs"'],
])('%j is a command line without quotes', async (args, text) => {
  writeFileSync(home.file('server.mjs'), 'process.stdin.resume();');
  const { code, stderr } = await home.run(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
});

test('a file that init or install cannot write is a usage error with the reason and a remedy', async () => {
  const init = await home.run(['init', '--force', home.folder]);
  expect(init).toMatchObject({ code: 2, stdout: '' });
  expect(init.stderr).toBe(
    `mooring: ${home.folder} cannot be written: it is a folder. Choose another one with mooring init FILE, or print it with --print\n`,
  );
  // Not even root can create a folder there.
  const install = await home.run(['install', 'cursor', '--no-check'], { env: { HOME: '/proc' } });
  expect(install).toMatchObject({ code: 2, stdout: '' });
  expect(install.stderr).toMatch(
    /^mooring: \/proc\/\.cursor\/mcp\.json cannot be written: [^.]+\. Nothing was changed\. Check the file and its folder\n$/,
  );
});

test('pins that a gateway cannot read are reported with the reason and a remedy', async () => {
  writeFileSync(home.file('servers.json'), JSON.stringify({ mcpServers: { one: { command: 'true' } } }), {
    mode: 0o600,
  });
  writeFileSync(home.file('gateway'), 'a file where the folder should be');
  const args = ['gateway', '--config', home.file('servers.json'), '--data', home.folder];
  const { code, stderr } = await home.run(args);
  const file = home.file('gateway/pins.json');
  expect([code, stderr]).toEqual([
    2,
    `mooring: ${file} cannot be read: a part of its path is not a folder. Make it readable, or choose another folder with --data DIR\n`,
  ]);
});

test('an internal error of a server says where its reason is', async () => {
  const script =
    'import { createServer, serveStdio } from ' +
    `${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)}; ` +
    "const server = createServer({ name: 'broken', version: '1.0.0' }); " +
    "server.resource('disk://a', { name: 'A', read: () => { throw new Error('no disk'); } }); " +
    'await serveStdio(server);';
  const file = `${home.path}/broken.mjs`;
  writeFileSync(file, script);
  const quiet = await home.run(['read', `node ${file}`, 'disk://a']);
  expect(quiet.code).toBe(1);
  expect(quiet.stderr).toContain(
    'The log of the server has the reason. If this command starts the server, -v shows the log',
  );
  const verbose = await home.run(['read', `node ${file}`, 'disk://a', '-v']);
  expect(verbose.stderr).toContain('no disk');
  expect(verbose.stderr).not.toContain('-v shows the log');
});
