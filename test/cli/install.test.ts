// mooring install and uninstall: entries in the configuration files of clients.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { cli, useHome } from '../support/program.ts';

const home = useHome();
const command = process.execPath;
const args = [cli, 'serve'];
const http = 'http://127.0.0.1:8000/mcp';

const path = (name: string): string => join(home.path, name);
const read = (name: string): string => readFileSync(path(name), 'utf8');
const backups = (name: string): string[] =>
  readdirSync(dirname(path(name))).filter(
    (each) => each.startsWith(basename(name)) && each.endsWith('.mooring-backup'),
  );
function put(name: string, text: string): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

const clineFolder = '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings';

test.each([
  ['claude-desktop', '.config/Claude/claude_desktop_config.json', 'mcpServers', { command, args }],
  ['claude-code', '.claude.json', 'mcpServers', { type: 'stdio', command, args }],
  ['cursor', '.cursor/mcp.json', 'mcpServers', { command, args }],
  ['vscode', '.config/Code/User/mcp.json', 'servers', { type: 'stdio', command, args }],
  ['gemini', '.gemini/settings.json', 'mcpServers', { command, args }],
  ['windsurf', '.codeium/windsurf/mcp_config.json', 'mcpServers', { command, args }],
  ['zed', '.config/zed/settings.json', 'context_servers', { command, args }],
  ['cline', `${clineFolder}/cline_mcp_settings.json`, 'mcpServers', { command, args }],
  ['cline-cli', '.cline/data/settings/cline_mcp_settings.json', 'mcpServers', { command, args }],
  ['opencode', '.config/opencode/opencode.json', 'mcp', { type: 'local', command: [command, ...args] }],
  ['junie', '.junie/mcp/mcp.json', 'mcpServers', { command, args }],
  ['lm-studio', '.lmstudio/mcp.json', 'mcpServers', { command, args }],
])('%s gets the command to start', async (client, file, key, entry) => {
  const { code, stdout } = await home.run(['install', client, '--no-check']);
  expect(code).toBe(0);
  expect(stdout).toContain(`file    ~/${file}`);
  expect(JSON.parse(read(file))).toEqual({ [key]: { mooring: entry } });
});

test.each([
  ['claude-code', '.claude.json', 'mcpServers', { type: 'http', url: http }],
  ['cursor', '.cursor/mcp.json', 'mcpServers', { url: http }],
  ['vscode', '.config/Code/User/mcp.json', 'servers', { type: 'http', url: http }],
  ['gemini', '.gemini/settings.json', 'mcpServers', { httpUrl: http }],
  ['windsurf', '.codeium/windsurf/mcp_config.json', 'mcpServers', { serverUrl: http }],
  ['zed', '.config/zed/settings.json', 'context_servers', { url: http }],
  ['cline', `${clineFolder}/cline_mcp_settings.json`, 'mcpServers', { type: 'streamableHttp', url: http }],
  ['opencode', '.config/opencode/opencode.json', 'mcp', { type: 'remote', url: http }],
  ['junie', '.junie/mcp/mcp.json', 'mcpServers', { url: http }],
  ['lm-studio', '.lmstudio/mcp.json', 'mcpServers', { url: http }],
])('%s gets a URL in its own format', async (client, file, key, entry) => {
  if (isFullRun || client === 'vscode') {
    await home.run(['install', client, '--url', http]);
    expect(JSON.parse(read(file))).toEqual({ [key]: { mooring: entry } });
  }
  await home.run(['install', client, '--url', http, '--header', 'Authorization: Bearer t']);
  const headers = { Authorization: 'Bearer t' };
  expect(JSON.parse(read(file))).toEqual({ [key]: { mooring: { ...entry, headers } } });
});

test('a variable or header in another form is a usage error that shows the form', async () => {
  expect(await home.run(['install', 'cursor', '--env', 'FOO'])).toMatchObject({
    code: 2,
    stderr: 'mooring: --env must be "NAME=VALUE", not "FOO"\n',
  });
  expect(await home.run(['install', 'cursor', '--url', 'http://127.0.0.1:1/mcp', '--header', 'bad'])).toMatchObject({
    code: 2,
    stderr: 'mooring: --header must be "Name: value", not "bad"\n',
  });
});

test('codex gets TOML', async () => {
  put('.codex/config.toml', 'model = "gpt" # mine\n');
  await home.run(['install', 'codex', '--profile', 'reference', '--env', 'A=b c', '--npx']);
  expect(read('.codex/config.toml')).toBe(`model = "gpt" # mine

[mcp_servers.mooring]
command = "npx"
args = ["-y", "mooring", "serve", "reference"]

[mcp_servers.mooring.env]
A = "b c"
`);
  await home.run(['install', 'codex', '--url', http]);
  expect(read('.codex/config.toml')).toBe(`model = "gpt" # mine\n\n[mcp_servers.mooring]\nurl = "${http}"\n`);
  await home.run(['uninstall', 'codex']);
  expect(read('.codex/config.toml')).toBe('model = "gpt" # mine\n');
});

test('claude-desktop does not accept URLs, and the error says where to enter them', async () => {
  const { code, stderr } = await home.run(['install', 'claude-desktop', '--url', http]);
  expect(code).toBe(2);
  expect(stderr).toContain('Connectors');
});

const mine = `{
  // what I wrote
  "numStartups": 12,
  "mcpServers": {
    "other": { "command": "x", "args": ["a",   "b"] }, // keep
  },
  "projects": { "/p": { "allowed": [ ] } }
}
`;

test('the rest of the file stays unchanged, a backup is written, and a second install changes nothing', async () => {
  put('.claude.json', mine);
  const first = await home.run(['install', 'claude-code', '--npx']);
  expect(first.stdout).toMatch(/^Added mooring to Claude Code$/m);
  const added = `    "mooring": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "mooring",
        "serve"
      ]
    },
`;
  expect(read('.claude.json')).toBe(mine.replace('// keep\n', `// keep\n${added}`));
  const [backup] = backups('.claude.json');
  expect(backup).toMatch(/^\.claude\.json\.\d{8}T\d{6}\.mooring-backup$/);
  expect(read(backup as string)).toBe(mine);
  const second = await home.run(['install', 'claude-code', '--npx']);
  expect(second.stdout).toMatch(/^Already up to date: /);
  expect(backups('.claude.json')).toEqual([backup]);
  const gone = await home.run(['uninstall', 'claude-code']);
  expect(gone.stdout).toMatch(/^Removed mooring from Claude Code$/m);
  expect(read('.claude.json')).toBe(mine);
  expect((await home.run(['uninstall', 'claude-code'])).stdout).toMatch(/^Not installed: /);
});

test('a symbolic link is followed and kept, and the mode of the file stays', async () => {
  put('dotfiles/mcp.json', '{}\n');
  writeFileSync(path('dotfiles/mcp.json'), '{}\n', { mode: 0o640 });
  mkdirSync(path('.cursor'));
  symlinkSync(path('dotfiles/mcp.json'), path('.cursor/mcp.json'));
  const mode = statSync(path('dotfiles/mcp.json')).mode;
  await home.run(['install', 'cursor']);
  expect(lstatSync(path('.cursor/mcp.json')).isSymbolicLink()).toBe(true);
  expect(JSON.parse(read('dotfiles/mcp.json'))).toHaveProperty('mcpServers.mooring');
  expect(statSync(path('dotfiles/mcp.json')).mode).toBe(mode);
});

test.each(['install', 'uninstall'])('%s does not replace a read-only file', async (verb) => {
  put('.cursor/mcp.json', '{"mcpServers":{"mooring":{"command":"old"}}}');
  chmodSync(path('.cursor/mcp.json'), 0o444);
  const { code, stderr } = await home.run([verb, 'cursor']);
  expect(code).toBe(2);
  expect(stderr).toContain('cursor/mcp.json cannot be written: it is read-only. Nothing was changed.');
  expect(read('.cursor/mcp.json')).toContain('old');
  expect(readdirSync(path('.cursor'))).toEqual(['mcp.json']);
});

test('a symbolic link to a file that does not exist is not replaced', async () => {
  mkdirSync(path('.cursor'));
  symlinkSync(path('dotfiles/mcp.json'), path('.cursor/mcp.json'));
  const { code, stderr } = await home.run(['install', 'cursor', '--no-check']);
  expect(code).toBe(2);
  expect(stderr).toContain('this is a symbolic link to a file that does not exist. Nothing was changed');
  expect(lstatSync(path('.cursor/mcp.json')).isSymbolicLink()).toBe(true);
});

test.each(['install', 'uninstall'])(
  '%s does not change a file that it cannot write again without a loss',
  async (what) => {
    const latin1 = Buffer.from('{ "mcpServers": { "mooring": { "command": "caf\u00e9" } } }', 'latin1');
    mkdirSync(path('.cursor'));
    writeFileSync(path('.cursor/mcp.json'), latin1);
    const { code, stderr } = await home.run([what, 'cursor']);
    expect(code).toBe(2);
    expect(stderr).toContain('the file is not encoded in UTF-8. Nothing was changed');
    expect(readFileSync(path('.cursor/mcp.json'))).toEqual(latin1);
    expect(backups('.cursor/mcp.json')).toEqual([]);
  },
);

test.skipIf(process.platform === 'win32')('a pipe or a folder in place of the file is reported', async () => {
  mkdirSync(path('.cursor'));
  execFileSync('mkfifo', [path('.cursor/mcp.json')]);
  mkdirSync(path('.claude.json'));
  for (const [client, why] of [
    ['cursor', 'this is not a regular file'],
    ['claude-code', 'the file cannot be read: it is a folder'],
  ] as const) {
    const { code, stderr } = await home.run(['install', client, '--no-check']);
    expect(code).toBe(2);
    expect(stderr).toContain(`${why}. Nothing was changed`);
  }
});

test.each([
  [
    'cursor',
    '.cursor/mcp.json',
    '{ "mcpServers": { oops } }',
    /:1:\d+: .*Nothing was changed\. Correct the file and try again/,
  ],
  ['cursor', '.cursor/mcp.json', '{ "mcpServers": [] }', /mcpServers is not an object, so the file was not changed/],
  ['codex', '.codex/config.toml', 'a = b\n', /config\.toml:1:\d+: .*Nothing was changed/],
  [
    'codex',
    '.codex/config.toml',
    '[[mcp_servers]]\na = 1\n',
    /mcp_servers is not a table, so the file was not changed/,
  ],
])('%s: a file that cannot be parsed is not changed', async (client, file, text, reason) => {
  put(file, text);
  const { code, stderr } = await home.run(['install', client]);
  expect(code).toBe(2);
  expect(stderr).toMatch(reason);
  expect(read(file)).toBe(text);
  expect(backups(file)).toEqual([]);
});

test('--print prints the resulting file and changes nothing', async () => {
  const { stdout, stderr } = await home.run(['install', 'vscode', '--print', '--name', 'm2', '--profile', 'system']);
  expect(JSON.parse(stdout)).toEqual({ servers: { m2: { type: 'stdio', command, args: [...args, 'system'] } } });
  expect(stderr).toContain('~/.config/Code/User/mcp.json');
  expect(existsSync(path('.config/Code'))).toBe(false);
});

test('--project writes to the project configuration, with absolute paths', async () => {
  await home.run(['install', 'vscode', '--project', '--', '--root', '.', '--data=d']);
  const entry = { type: 'stdio', command, args: [...args, '--root', home.folder, `--data=${home.folder}/d`] };
  expect(JSON.parse(read('work/.vscode/mcp.json'))).toEqual({ servers: { mooring: entry } });
  const { code, stderr } = await home.run(['install', 'claude-desktop', '--project']);
  expect(code).toBe(2);
  expect(stderr).toContain('no configuration per project');
});

test('--list shows the files and states of all clients', async () => {
  await home.run(['install', 'gemini']);
  put('.cursor/mcp.json', '{');
  const { stdout } = await home.run(['install', '--list']);
  expect(stdout).toMatch(/^gemini +user +installed +~\/\.gemini\/settings\.json$/m);
  expect(stdout).toMatch(/^cursor +user +unreadable /m);
  expect(stdout).toMatch(/^codex +user +no file /m);
});

test('the command of an installed entry works', async () => {
  await home.run(['install', 'cursor', '--profile', 'everything']);
  const entry = JSON.parse(read('.cursor/mcp.json')).mcpServers.mooring;
  const { stdout } = await home.run(entry.args.slice(1), {
    program: entry.args[0],
    input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
  });
  expect(JSON.parse(stdout)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});

test('every change keeps a backup of its own', async () => {
  put('.cursor/mcp.json', '{}');
  for (const name of ['a', 'b', 'c']) await home.run(['install', 'cursor', '--url', http, '--name', name]);
  const kept = backups('.cursor/mcp.json').map((each) =>
    Object.keys(JSON.parse(read(`.cursor/${each}`)).mcpServers ?? {}),
  );
  expect(kept.sort((one, other) => one.length - other.length)).toEqual([[], ['a'], ['a', 'b']]);
});

test('a second install keeps what the user added to the entry', async () => {
  put(
    '.cursor/mcp.json',
    `{
  "mcpServers": {
    "mooring": {
      "command": "old", // was slow
      "env": { "MINE": "1", "BOTH": "old" },
      "autoApprove": ["time"]
    }
  }
}
`,
  );
  await home.run(['install', 'cursor', '--env', 'BOTH=new']);
  expect(read('.cursor/mcp.json')).toContain('// was slow');
  expect(JSON.parse(read('.cursor/mcp.json').replace('// was slow', '')).mcpServers.mooring).toEqual({
    command,
    env: { MINE: '1', BOTH: 'new' },
    autoApprove: ['time'],
    args,
  });
  put(
    '.codex/config.toml',
    '[mcp_servers]\nmooring = { command = "old", env = { MINE = "1" }, tool_timeout_sec = 30 }\n',
  );
  await home.run(['install', 'codex', '--url', http]);
  expect(read('.codex/config.toml')).toBe(
    `[mcp_servers]\n\n[mcp_servers.mooring]\ntool_timeout_sec = 30\nurl = "${http}"\n`,
  );
});

const fixture = resolve(import.meta.dirname, '../doctor/fixtures/server.mjs');

test('a server of your own is installed under its name, with full paths, once it was seen to work', async () => {
  put('work/weather.mjs', readFileSync(fixture, 'utf8'));
  const { code, stdout } = await home.run(['install', 'opencode', '--env', 'A=b', '--', command, './weather.mjs']);
  expect(code).toBe(0);
  expect(stdout).toContain('Added weather to opencode');
  expect(JSON.parse(read('.config/opencode/opencode.json'))).toEqual({
    mcp: { weather: { type: 'local', command: [command, path('work/weather.mjs')], environment: { A: 'b' } } },
  });
});

test('a server that does not work is not installed, unless the check is skipped', async () => {
  const broken = ['--name', 'x', '--', command, fixture, 'crash'];
  const { code, stderr } = await home.run(['install', 'cursor', ...broken]);
  expect(code).toBe(1);
  expect(stderr).toContain('nothing was written');
  expect(stderr).toContain('the database is on fire');
  expect(existsSync(path('.cursor'))).toBe(false);
  const typo = await home.run(['install', 'cursor', '--', '--rooot', '.']);
  expect(typo.code).toBe(1);
  expect(typo.stderr).toContain('--rooot');
  expect((await home.run(['install', 'cursor', '--no-check', ...broken])).code).toBe(0);
  expect(JSON.parse(read('.cursor/mcp.json')).mcpServers).toHaveProperty('x');
});

test('list shows the servers of all clients, and where they are', async () => {
  put('.cursor/mcp.json', '{ "mcpServers": { "web": { "url": "https://h/mcp", "headers": { "K": "secret" } } } }');
  put('.codex/config.toml', '[mcp_servers.docs]\ncommand = "uvx"\nargs = ["docs"]\nenabled = false\n');
  put('.claude.json', '{ "projects": { "/p": { "mcpServers": { "local": { "command": "x" } } } } }');
  put('work/.vscode/mcp.json', '{ "servers": { "here": { "command": "y", "env": { "T": "secret" } } } }');
  put('.gemini/settings.json', '{');
  const { code, stdout, stderr } = await home.run(['list']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^web +cursor +user +~\/\.cursor\/mcp\.json +https:\/\/h\/mcp$/m);
  expect(stdout).toMatch(/^docs +codex +user +~\/\.codex\/config\.toml +uvx docs \(disabled\)$/m);
  expect(stdout).toMatch(/^local +claude-code +project \/p +~\/\.claude\.json +x$/m);
  expect(stdout).toMatch(/^here +vscode +project +~\/work\/\.vscode\/mcp\.json +y$/m);
  expect(stderr).toMatch(/~\/\.gemini\/settings\.json cannot be read: 1:2: /);
  const json = (await home.run(['list', '--json'])).stdout;
  expect(json).not.toContain('secret');
  expect(JSON.parse(json)).toContainEqual({
    ...{ name: 'here', client: 'vscode', scope: 'project', file: path('work/.vscode/mcp.json'), disabled: false },
    ...{ command: 'y', args: [], env: ['T'], headers: [] },
  });
  expect(JSON.parse((await home.run(['list', 'codex', '--json'])).stdout)).toHaveLength(1);
});

test('doctor --all checks the servers of all clients', async () => {
  put('.cursor/mcp.json', JSON.stringify({ mcpServers: { good: { command, args: [fixture] } } }));
  put('.codex/config.toml', '[mcp_servers.bad]\ncommand = "no-such-program"\n');
  const { code, stdout } = await home.run(['doctor', '--all', '--json']);
  expect(code).toBe(1);
  const found = (JSON.parse(stdout) as { name: string; id: string }[]).map(({ name, id }) => `${name} ${id}`);
  expect(found).toEqual(['good server-ok', 'bad command-not-found']);
});

test('a script that does not exist is reported once, without advice about its path', async () => {
  const { code, stderr } = await home.run(['install', 'zed', '--', 'node', './no-such-script.js']);
  expect(code).toBe(1);
  expect(stderr).toContain(`There is no file ${home.file('no-such-script.js')}`);
  expect(stderr).not.toContain('warning:');
});
