// mooring install and uninstall: entries in the configuration files of clients.

import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { cli, useHome } from './program.ts';

const home = useHome();
const command = process.execPath;
const args = [cli, 'serve'];
const http = 'http://127.0.0.1:8000/mcp';

const path = (name: string): string => join(home.path, name);
const read = (name: string): string => readFileSync(path(name), 'utf8');
function put(name: string, text: string): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

test.each([
  ['claude-desktop', '.config/Claude/claude_desktop_config.json', 'mcpServers', { command, args }],
  ['claude-code', '.claude.json', 'mcpServers', { type: 'stdio', command, args }],
  ['cursor', '.cursor/mcp.json', 'mcpServers', { command, args }],
  ['vscode', '.config/Code/User/mcp.json', 'servers', { type: 'stdio', command, args }],
  ['gemini', '.gemini/settings.json', 'mcpServers', { command, args }],
])('%s gets the command to start', async (client, file, key, entry) => {
  const { code, stdout } = await home.run(['install', client]);
  expect(code).toBe(0);
  expect(stdout).toContain(`file    ~/${file}`);
  expect(JSON.parse(read(file))).toEqual({ [key]: { mooring: entry } });
});

test.each([
  ['claude-code', '.claude.json', 'mcpServers', { type: 'http', url: http }],
  ['cursor', '.cursor/mcp.json', 'mcpServers', { url: http }],
  ['vscode', '.config/Code/User/mcp.json', 'servers', { type: 'http', url: http }],
  ['gemini', '.gemini/settings.json', 'mcpServers', { httpUrl: http }],
])('%s gets a URL in its own format', async (client, file, key, entry) => {
  await home.run(['install', client, '--url', http]);
  expect(JSON.parse(read(file))).toEqual({ [key]: { mooring: entry } });
  await home.run(['install', client, '--url', http, '--header', 'Authorization: Bearer t']);
  const headers = { Authorization: 'Bearer t' };
  expect(JSON.parse(read(file))).toEqual({ [key]: { mooring: { ...entry, headers } } });
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
  expect(first.stdout).toMatch(/^Added: mooring in Claude Code$/m);
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
  expect(read('.claude.json.mooring-backup')).toBe(mine);
  const second = await home.run(['install', 'claude-code', '--npx']);
  expect(second.stdout).toMatch(/^Already up to date: /);
  expect(read('.claude.json.mooring-backup')).toBe(mine);
  const gone = await home.run(['uninstall', 'claude-code']);
  expect(gone.stdout).toMatch(/^Removed: /);
  expect(read('.claude.json')).toBe(mine);
  expect((await home.run(['uninstall', 'claude-code'])).stdout).toMatch(/^Already up to date: /);
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

test.each([
  [
    'cursor',
    '.cursor/mcp.json',
    '{ "mcpServers": { oops } }',
    /:1:\d+: .*Nothing was changed\. Correct the file and try again/,
  ],
  ['cursor', '.cursor/mcp.json', '{ "mcpServers": [] }', /mcpServers is not an object, so the file was not changed/],
  ['codex', '.codex/config.toml', 'a = b\n', /config\.toml:1:\d+: .*Nothing was changed/],
  ['codex', '.codex/config.toml', '[mcp_servers]\nmooring = { command = "x" }\n', /not written as a table of its own/],
])('%s: a file that cannot be parsed is not changed', async (client, file, text, reason) => {
  put(file, text);
  const { code, stderr } = await home.run(['install', client]);
  expect(code).toBe(2);
  expect(stderr).toMatch(reason);
  expect(read(file)).toBe(text);
  expect(existsSync(path(`${file}.mooring-backup`))).toBe(false);
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
