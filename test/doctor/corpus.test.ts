// Broken servers and configurations, each with the finding that mooring doctor must report. Many targets are checked by
// one run of the program, since a start costs more than a check.

import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DoctorFinding, type FindingId, findingKinds } from '../../src/app/doctor/findings.ts';
import { Home } from '../support/program.ts';
import { startProxy, type TestProxy } from '../support/proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startWebServers } from './web-servers.ts';

const fixture = join(import.meta.dirname, 'fixtures/server.mjs');
const node = process.execPath;

interface Case {
  readonly title: string;
  readonly id: FindingId;
  /** What the user names; a function if it depends on a server that the test starts. */
  readonly target: string | ((web: Web) => string);
  /** Text in the detail or the remedy. */
  readonly says?: string | ((web: Web) => string);
}

type Web = Awaited<ReturnType<typeof startWebServers>>;

const server = (fault: string): string => `${node} ${fixture} ${fault}`;

/** Servers that never respond: checked with a short time limit. */
const silent: readonly Case[] = [
  { title: 'a server that is silent', id: 'no-response', target: server('silent') },
  { title: 'a language server', id: 'lsp-framing', target: server('lsp') },
  { title: 'a command that starts an HTTP server', id: 'http-not-stdio', target: server('http'), says: ':3000/mcp' },
  {
    title: 'a silent server that names a documentation page and its address',
    id: 'http-not-stdio',
    target: server('http-docs'),
    says: ':3000/mcp',
  },
  {
    title: 'a silent server that names a documentation page',
    id: 'no-response',
    target: server('docs'),
    says: 'docs.example.com',
  },
  {
    title: 'a URL whose body never ends',
    id: 'no-response',
    target: ({ endlessBody }) => `${endlessBody}/mcp`,
    says: 'Check the log of the server',
  },
  {
    title: 'a URL whose headers never end',
    id: 'no-response',
    target: ({ endlessHeaders }) => `${endlessHeaders}/mcp`,
  },
];

const commands: readonly Case[] = [
  { title: 'a program that does not exist', id: 'command-not-found', target: 'no-such-program --stdio', says: 'PATH' },
  { title: 'a file that is not executable', id: 'command-not-executable', target: './plain.sh', says: 'chmod +x' },
  { title: 'a script that does not exist', id: 'script-not-found', target: `${node} ./no-such-script.js` },
  { title: 'a server that exits with code 0', id: 'exits-at-once', target: server('exit-0') },
  { title: 'a server that exits without a message', id: 'exits-at-once', target: server('exit-3'), says: 'code 3' },
  {
    title: 'a server that throws at start',
    id: 'server-crashed',
    target: server('crash'),
    says: 'database is on fire',
  },
  { title: 'a server whose dependencies are missing', id: 'module-not-found', target: server('module') },
  {
    title: 'a package that npx installed only in part',
    id: 'module-not-found',
    target: server('npx'),
    says: 'Delete /home/ada/.npm/_npx/a3241bba59c344f5, then start it again',
  },
  { title: 'a server whose port is in use', id: 'port-in-use', target: server('port') },
  { title: 'a server that may not write its data', id: 'permission-denied', target: server('permission') },
  { title: 'a server for a newer Node.js', id: 'node-too-old', target: server('node'), says: 'Node.js 99' },
  {
    title: 'a TypeScript file with an older Node.js',
    id: 'node-too-old',
    target: server('typescript'),
    says: 'Use Node.js 22.18 or later, or start it with tsx: npx tsx FILE',
  },
  { title: 'a server without its key', id: 'env-required', target: server('env'), says: 'WEATHER_API_KEY' },
  {
    title: 'a server without its token that prints its usage below',
    id: 'env-required',
    target: server('usage'),
    says: 'The server exited with code 1: Error: No access token was provided.',
  },
  { title: 'a package that does not exist', id: 'package-not-found', target: server('package') },
  { title: 'a server that logs to stdout', id: 'stdout-output', target: server('stdout'), says: 'weather server' },
  { title: 'a server that starts slowly', id: 'slow-start', target: server('slow') },
  { title: 'a server of an unknown revision', id: 'protocol-version', target: server('version'), says: '1999-12-31' },
  {
    title: 'a server that rejects everything',
    id: 'server-error',
    target: server('errors'),
    says: 'The server rejects the connection: go away (-32000)',
  },
  {
    title: 'a server that rejects everything without its key',
    id: 'env-required',
    target: server('no-key'),
    says: 'The server rejects the connection: WEATHER_API_KEY is not set (-32000)',
  },
  {
    title: 'a server that rejects everything without a reason',
    id: 'server-error',
    target: server('no-reason'),
    says: 'The server rejects the connection without a reason (-32000)',
  },
  { title: 'another JSON-RPC server', id: 'not-mcp', target: server('json-rpc'), says: 'Method not found, -32601' },
  { title: 'a server whose list fails', id: 'list-failed', target: server('list'), says: 'no list today' },
  {
    title: 'a server that crashes on a list',
    id: 'server-crashed',
    target: server('list-crash'),
    says: 'not iterable',
  },
  { title: 'a tool without a schema', id: 'tool-invalid', target: server('tool'), says: 'half' },
  { title: 'a server without features', id: 'no-features', target: server('nothing') },
];

const urls: readonly Case[] = [
  {
    title: 'an address without a scheme',
    id: 'url-invalid',
    target: 'localhost:1/mcp',
    says: 'http://localhost:1/mcp',
  },
  { title: 'a scheme that is not supported', id: 'url-invalid', target: 'ftp://127.0.0.1/mcp' },
  { title: 'a name that does not exist', id: 'host-not-found', target: 'http://no-such-host.invalid/mcp' },
  { title: 'a port without a server', id: 'connection-refused', target: 'http://127.0.0.1:1/mcp' },
  {
    title: 'a wrong path, right: /mcp',
    id: 'wrong-path',
    target: (web) => `${web.working}/api`,
    says: (web) => `Use ${web.working}/mcp.`,
  },
  {
    title: 'a wrong path, right: /sse',
    id: 'wrong-path',
    target: (web) => `${web.sse}/mcp`,
    says: (web) => `Use ${web.sse}/sse.`,
  },
  {
    title: 'only the origin',
    id: 'wrong-path',
    target: (web) => `${web.working}/`,
    says: (web) => `Use ${web.working}/mcp.`,
  },
  { title: 'no endpoint at all', id: 'endpoint-not-found', target: (web) => `${web.nothing}/mcp` },
  { title: 'a web page', id: 'not-mcp', target: (web) => `${web.page}/docs`, says: 'web page' },
  { title: 'OAuth', id: 'sign-in-required', target: (web) => `${web.oauth}/mcp`, says: 'login.example.org' },
  { title: 'a bearer token', id: 'sign-in-required', target: (web) => `${web.bearer}/mcp`, says: 'a bearer token' },
  {
    title: 'a host name that is not allowed',
    id: 'forbidden',
    target: (web) => `${web.forbidden}/mcp`,
    says: '--allow-host',
  },
  { title: 'a server behind a broken proxy', id: 'server-error', target: (web) => `${web.failing}/mcp`, says: '502' },
  {
    title: 'a server that cannot run at the moment',
    id: 'server-error',
    target: (web) => `${web.stopped}/mcp`,
    says: 'server.ts is not running (-32000)',
  },
  {
    title: 'a redirect',
    id: 'redirected',
    target: (web) => `${web.redirecting}/mcp`,
    says: 'https://mcp.example.org/mcp',
  },
  {
    title: 'https for a server without TLS',
    id: 'tls-on-plain-http',
    target: (web) => `${web.working.replace('http:', 'https:')}/mcp`,
    says: (web) => `Use ${web.working}/mcp.`,
  },
  {
    title: 'http for a server with TLS',
    id: 'plain-http-on-tls',
    target: (web) => `${web.untrusted.replace('https:', 'http:')}/mcp`,
    says: (web) => `Use ${web.untrusted}/mcp.`,
  },
  { title: 'a self-signed certificate', id: 'certificate-untrusted', target: (web) => `${web.untrusted}/mcp` },
  { title: 'an expired certificate', id: 'certificate-expired', target: (web) => `${web.expired}/mcp` },
  { title: 'a certificate for another name', id: 'certificate-wrong-host', target: (web) => `${web.wrongHost}/mcp` },
  { title: '0.0.0.0', id: 'wildcard-address', target: (web) => `${web.working.replace('127.0.0.1', '0.0.0.0')}/mcp` },
  { title: 'the older transport', id: 'sse-transport', target: (web) => `${web.sse}/sse` },
];

/** Checked with a proxy that rejects everything. */
const rejections: readonly Case[] = [
  { title: 'a proxy that rejects', id: 'proxy-rejected', target: 'https://mcp.invalid/mcp?proxy', says: 'HTTP 403' },
];

/** Checked with HTTPS_PROXY set to an address where nothing listens. */
const proxies: readonly Case[] = [
  {
    title: 'a proxy that does not respond',
    id: 'proxy-unreachable',
    target: 'https://mcp.invalid/mcp',
    says: '127.0.0.1:9',
  },
  { title: 'a proxy for this machine', id: 'proxy-for-loopback', target: 'https://127.0.0.1:1/mcp', says: 'NO_PROXY' },
];

const works = { command: node, args: [fixture] };
const one = (entry: object): string => JSON.stringify({ mcpServers: { it: entry } }, null, 2);

interface ConfigCase extends Omit<Case, 'target'> {
  /** Below the working folder. */
  readonly file: string;
  readonly text: string | undefined | ((web: Web) => string);
}

const configs: readonly ConfigCase[] = [
  { title: 'a file that does not exist', id: 'config-missing', file: 'none/mcp.json', text: undefined },
  {
    title: 'a missing comma',
    id: 'config-syntax',
    file: 'comma.json',
    text: '{\n  "mcpServers": {\n    "a": { "command": "x" "args": [] }\n  }\n}',
    says: 'comma.json:3:',
  },
  {
    title: 'TOML without quotes',
    id: 'config-syntax',
    file: 'bad.toml',
    text: '[mcp_servers.a]\ncommand = npx\n',
    says: ':2:',
  },
  {
    title: 'a trailing comma',
    id: 'config-not-strict-json',
    file: 'a/.cursor/mcp.json',
    text: `{ "mcpServers": { "it": ${JSON.stringify(works)}, } }`,
    says: 'Cursor',
  },
  {
    title: 'the key of another client',
    id: 'config-wrong-key',
    file: 'b/.vscode/mcp.json',
    text: one(works),
    says: 'Rename "mcpServers" to "servers"',
  },
  {
    title: 'a mistyped key',
    id: 'config-wrong-key',
    file: 'typo.json',
    text: '{ "mcpserver": { "a": {} } }',
    says: '"mcpServers"',
  },
  { title: 'servers at the top level', id: 'config-wrong-key', file: 'top.json', text: JSON.stringify({ it: works }) },
  { title: 'a file without servers', id: 'config-empty', file: 'empty.json', text: '{}' },
  {
    title: 'a file with very many servers',
    id: 'servers-not-started',
    file: 'many.json',
    text: JSON.stringify({
      mcpServers: Object.fromEntries(
        Array.from({ length: 2_000 }, (_, n) => [`s${n}`, { command: 'no-such-program' }]),
      ),
    }),
    says: 'Only the first 100 of 2000 servers are started',
  },
  {
    title: 'arguments as one text',
    id: 'config-invalid-value',
    file: 'args.json',
    text: one({ command: 'npx', args: '-y x' }),
    says: 'line 3: "args"',
  },
  {
    title: 'a null character in the command',
    id: 'command-not-found',
    file: 'null.json',
    text: one({ command: 'a\0b' }),
  },
  {
    title: 'a number in env',
    id: 'config-invalid-value',
    file: 'env.json',
    text: one({ ...works, env: { PORT: 1 } }),
    says: '"PORT" in "env"',
  },
  {
    title: 'a command and a URL',
    id: 'config-invalid-value',
    file: 'both.json',
    text: one({ ...works, url: 'http://x' }),
  },
  { title: 'neither a command nor a URL', id: 'config-invalid-value', file: 'neither.json', text: one({ args: [] }) },
  {
    title: 'url in Windsurf',
    id: 'config-invalid-value',
    file: 'windsurf/mcp_config.json',
    text: one({ url: 'http://127.0.0.1:1/mcp' }),
    says: 'serverUrl',
  },
  {
    title: 'an unknown key',
    id: 'config-unknown-key',
    file: 'key.json',
    text: one({ ...works, enviroment: {} }),
    says: 'Did you mean "environment"?',
  },
  {
    title: 'a name that is used twice',
    id: 'config-duplicate-key',
    file: 'twice.json',
    text: `{ "mcpServers": { "it": {}, "it": ${JSON.stringify(works)} } }`,
  },
  {
    title: 'a server that is switched off',
    id: 'server-disabled',
    file: 'off.json',
    text: one({ ...works, disabled: true }),
  },
  {
    title: 'a variable that is not set',
    id: 'env-missing',
    file: 'variable.json',
    text: one({ ...works, env: { KEY: `\${NO_SUCH_VARIABLE}` } }),
    says: 'NO_SUCH_VARIABLE',
  },
  {
    title: 'an input that VS Code asks for',
    id: 'input-missing',
    file: '.vscode/mcp.json',
    text: JSON.stringify({
      inputs: [{ id: 'key', type: 'promptString', description: 'The key' }],
      servers: { it: { ...works, cwd: `\${workspaceFolder}`, env: { KEY: `\${input:key}` } } },
    }),
    says: 'MOORING_INPUT_KEY',
  },
  {
    title: 'a file of variables that does not exist',
    id: 'config-invalid-value',
    file: 'env-file.json',
    text: one({ ...works, envFile: 'none.env' }),
    says: 'none.env (envFile), which cannot be read',
  },
  {
    title: 'the placeholder of an example',
    id: 'env-placeholder',
    file: 'placeholder.json',
    text: one({ ...works, env: { KEY: 'YOUR_API_KEY' } }),
  },
  {
    title: 'a command with its arguments',
    id: 'command-has-arguments',
    file: 'line.json',
    text: one({ command: 'node server.js' }),
    says: '"args": ["server.js"]',
  },
  {
    title: 'cmd /c',
    id: 'windows-command',
    file: 'cmd.json',
    text: one({ command: 'cmd', args: ['/c', 'npx', '-y', 'x'] }),
  },
  {
    title: 'a drive letter',
    id: 'windows-command',
    file: 'drive.json',
    text: one({ command: 'C:\\tools\\server.exe' }),
  },
  { title: 'a path with ~', id: 'tilde-path', file: 'tilde.json', text: one({ command: '~/bin/server' }) },
  {
    title: 'a relative path',
    id: 'relative-path',
    file: 'relative.toml',
    text: `[mcp_servers.it]\ncommand = '${node}'\nargs = ["./copy.mjs"]\n`,
    says: 'copy.mjs',
  },
  {
    title: 'a missing folder',
    id: 'folder-not-found',
    file: 'cwd.json',
    text: one({ ...works, cwd: '/no/such/folder' }),
  },
  {
    title: 'a token that is not accepted',
    id: 'token-rejected',
    file: 'token.json',
    text: (web) => one({ url: `${web.bearer}/mcp`, headers: { Authorization: 'Bearer old' } }),
    says: 'invalid_token',
  },
];

const home = new Home();
let web: Web;
let busy: Server;
let proxy: TestProxy;
let found: ReadonlyMap<string, readonly DoctorFinding[]>;
let machine: readonly DoctorFinding[];
const codes: (number | null)[] = [];

const textOf = (part: Case['says'] | ConfigCase['text']): string =>
  part === undefined ? '' : typeof part === 'string' ? part : part(web);
const pathOf = ({ file }: ConfigCase): string => join(home.folder, file);

beforeAll(async () => {
  home.path = temporaryFolder();
  mkdirSync(home.folder);
  web = await startWebServers();
  proxy = await startProxy({ status: 403 });
  busy = createServer().listen(0, '127.0.0.1');
  await new Promise((ready) => busy.once('listening', ready));
  writeFileSync(home.file('plain.sh'), 'echo\n');
  chmodSync(home.file('plain.sh'), 0o644);
  writeFileSync(home.file('trusted.pem'), web.trusted);
  writeFileSync(home.file('copy.mjs'), readFileSync(fixture));
  for (const each of configs) {
    if (each.text === undefined) continue;
    mkdirSync(dirname(pathOf(each)), { recursive: true });
    writeFileSync(pathOf(each), textOf(each.text));
  }
  const run = async (
    targets: readonly string[],
    flags: readonly string[],
    env = {},
  ): Promise<readonly DoctorFinding[]> => {
    const { code, stdout, stderr } = await home.run(['doctor', ...targets, ...flags, '--json'], { env });
    codes.push(code);
    if (code !== 1) throw new Error(`exit code ${code}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const targets = (cases: readonly Case[]): string[] => cases.map(({ target }) => textOf(target));
  const { port } = busy.address() as { port: number };
  const data = join(home.folder, 'plain.sh/data');
  const results = await Promise.all([
    run(targets(silent), ['--timeout', '6']),
    run([...targets(commands), ...targets(urls), ...configs.map(pathOf)], ['--timeout', '60'], {
      NODE_EXTRA_CA_CERTS: home.file('trusted.pem'),
    }),
    run(targets(proxies), [], { HTTPS_PROXY: 'http://127.0.0.1:9' }),
    run(targets(rejections), [], { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }),
    run([], ['--no-sandbox', '--no-servers', '--data', data, '--port', String(port)]),
  ]);
  machine = results.at(-1) as readonly DoctorFinding[];
  found = byGroup(results.flat());
}, 120_000);

function byGroup(findings: readonly DoctorFinding[]): Map<string, DoctorFinding[]> {
  const groups = new Map<string, DoctorFinding[]>();
  for (const finding of findings) groups.set(finding.group, [...(groups.get(finding.group) ?? []), finding]);
  return groups;
}

afterAll(async () => {
  await web.close();
  await proxy.close();
  await new Promise((closed) => busy.close(closed));
  await home.close();
  rmSync(home.path, { recursive: true, force: true });
});

const isIn = (group: string, { id, says }: Pick<Case, 'id' | 'says'>): void => {
  const findings = found.get(group) ?? [];
  expect(findings.map((each) => each.id)).toContain(id);
  const finding = findings.find((each) => each.id === id) as DoctorFinding;
  expect(finding.severity).toBe(findingKinds[id].severity);
  expect(finding.remedy).not.toBe('');
  expect(`${finding.detail}\n${finding.remedy}`).toContain(textOf(says));
};

test.each([...silent, ...commands])('$title: $id', (each) => isIn(textOf(each.target), each));
test.each([...urls, ...proxies, ...rejections])('$title: $id', (each) => isIn(textOf(each.target), each));
test.each(configs)('$title: $id', (each) => isIn(pathOf(each).replace(home.path, '~'), each));

test.each([
  ['a data folder below a file', 'data-folder', 'cannot be created'],
  ['a port that is in use', 'http-port', 'is in use'],
] as const)('%s: %s', (_title, id, says) => {
  const finding = machine.find((each) => each.id === id);
  expect(finding).toMatchObject({ severity: 'error', detail: expect.stringContaining(says) });
});

test('without a folder for temporary files: temporary-folder', { timeout: 60_000 }, async () => {
  const env = { TMPDIR: home.file('none') };
  const { code, stdout } = await home.run(['doctor', '--no-servers', '--json'], { env });
  const findings = JSON.parse(stdout) as DoctorFinding[];
  const of = (id: FindingId): DoctorFinding | undefined => findings.find((each) => each.id === id);
  expect(of('temporary-folder')).toMatchObject({ severity: 'error', remedy: expect.stringContaining('TMPDIR') });
  expect(of('sqlite')).toMatchObject({ detail: expect.stringContaining('not checked') });
  expect(of('sandbox')).toBeDefined();
  expect(code).toBe(1);
});

test('the exit code is 1 if something does not work', () => {
  expect(codes).toEqual([1, 1, 1, 1, 1]);
});

test('each finding about servers and files occurs here, and has a row in the documentation', () => {
  const here = [...silent, ...commands, ...urls, ...proxies, ...rejections, ...configs].map(({ id }) => id);
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/guide/troubleshooting.md'), 'utf8');
  const ids = Object.keys(findingKinds) as FindingId[];
  const serverIds = ids.slice(ids.indexOf('config-missing'));
  // server-ok is no fault, and connection-failed is what nothing else explains.
  expect(serverIds.filter((id) => !here.includes(id))).toEqual(['server-ok', 'connection-failed']);
  for (const id of ids) expect(page, id).toContain(`| \`${id}\` | ${findingKinds[id].severity} |`);
});
