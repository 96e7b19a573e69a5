// mooring gateway import: entries mean the same in the file of the gateway as in the file of their client.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { useHome } from '../../support/program.ts';
import { runtimeOf, serverEntry, textOf, toolNames } from './support.ts';

const home = useHome();

const run = (...args: string[]) => home.run(['gateway', ...args], { env: runtimeOf(home) });

/** Writes a file of a client, relative to the home; returns its path. */
function writeClient(name: string, content: string | object): string {
  const file = join(home.path, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return file;
}

const imported = async (...args: string[]) => JSON.parse((await run('import', ...args)).stdout);

test('Gemini CLI: a url with a type has that type, and httpUrl counts where both are given', async () => {
  writeClient('.gemini/settings.json', {
    mcpServers: {
      typed: { url: 'http://localhost:1/mcp', type: 'http' },
      both: { url: 'http://localhost:1/sse', httpUrl: 'http://localhost:1/mcp' },
    },
  });
  expect((await imported('--from', 'gemini')).mcpServers).toEqual({
    typed: { type: 'http', url: 'http://localhost:1/mcp' },
    both: { url: 'http://localhost:1/mcp' },
  });
});

test('the folders of a project stay those of the client, wherever the file of the gateway is', async () => {
  const cursor = {
    files: { command: `\${workspaceFolder}/bin/files`, args: [`--root=\${workspaceFolder}`], cwd: 'tools' },
    other: { command: 'other', cwd: `\${HOME}/other` },
  };
  writeClient('work/.cursor/mcp.json', { mcpServers: cursor });
  const { mcpServers } = await imported('--from', 'cursor', '--project');
  expect(mcpServers).toEqual({
    files: { command: `${home.folder}/bin/files`, args: [`--root=${home.folder}`], cwd: join(home.folder, 'tools') },
    other: { command: 'other', cwd: `\${HOME}/other` },
  });
});

test('VS Code and opencode: a variable that is not set stays empty in the file of the gateway, too', async () => {
  writeClient('.config/Code/User/mcp.json', { servers: { a: { command: 'a', env: { KEY: `\${env:MAYBE}` } } } });
  expect((await imported('--from', 'vscode')).mcpServers).toEqual({ a: { command: 'a', env: { KEY: `\${MAYBE:-}` } } });
  writeClient('.config/opencode/opencode.json', {
    mcp: { far: { type: 'remote', url: 'https://far.example/mcp', headers: { Authorization: 'Bearer {env:MAYBE}' } } },
  });
  expect((await imported('--from', 'opencode')).mcpServers).toEqual({
    far: { url: 'https://far.example/mcp', headers: { Authorization: `Bearer \${MAYBE:-}` } },
  });
});

test('Codex: headers and variables of the environment by their names', async () => {
  writeClient(
    '.codex/config.toml',
    `[mcp_servers.far]
url = "https://far.example/mcp"
env_http_headers = { "X-Key" = "KEY" }

[mcp_servers.files]
command = "files"
env_vars = ["LANG"]
`,
  );
  expect((await imported('--from', 'codex')).mcpServers).toEqual({
    far: { url: 'https://far.example/mcp', headers: { 'X-Key': `\${KEY}` } },
    files: { command: 'files', mooring: { inheritEnv: ['LANG'] } },
  });
  expect(await run('import', '--from', 'codex', '--output', home.file('servers.json'), '--replace')).toMatchObject({
    code: 0,
  });
  const headers = readFileSync(join(home.path, '.codex/config.toml'), 'utf8').match(/^\[.*\]$/gm);
  expect(headers).toEqual(['[mcp_servers.mooring]']);
});

test('Zed: a server of an extension stays in Zed', async () => {
  const file = writeClient('.config/zed/settings.json', {
    context_servers: { github: { source: 'extension', settings: {} }, files: { command: 'files' } },
  });
  const { code, stderr } = await run('import', '--from', 'zed', '--output', home.file('servers.json'), '--replace');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('github: left out') });
  expect(JSON.parse(readFileSync(home.file('servers.json'), 'utf8')).mcpServers).toEqual({
    files: { command: 'files' },
  });
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).context_servers)).toEqual(['github', 'mooring']);
});

test('keys that do not come along are reported', async () => {
  writeClient('.cursor/mcp.json', {
    mcpServers: { files: { command: 'files', colour: 'red', alwaysAllow: ['read'] } },
  });
  const { code, stdout, stderr } = await run('import', '--from', 'cursor');
  expect({ code, servers: JSON.parse(stdout).mcpServers }).toEqual({
    code: 0,
    servers: { files: { command: 'files' } },
  });
  expect(stderr).toContain('files: unknown keys, without effect: colour');
  expect(stderr).toContain('files: keys of other clients, without effect here: alwaysAllow');
});

test('files of variables are read where they are; references that only the client can resolve are errors', async () => {
  const file = writeClient('.cursor/mcp.json', {
    mcpServers: {
      near: { command: 'files', envFile: 'near.env' },
      variable: { command: 'files', envFile: `\${SECRETS}/x.env` },
      workspace: { command: 'files', envFile: `\${workspaceFolder}/.env` },
    },
  });
  const folder = dirname(file);
  const { code, stdout } = await run('import', '--from', 'cursor');
  expect({ code, servers: JSON.parse(stdout).mcpServers }).toEqual({
    code: 0,
    servers: {
      near: { command: 'files', envFile: join(folder, 'near.env') },
      variable: { command: 'files', envFile: `\${SECRETS}/x.env` },
      workspace: { command: 'files', envFile: join(dirname(folder), '.env') },
    },
  });
  const key = `\${config:files.key}`;
  writeClient('.config/Code/User/mcp.json', { servers: { files: { command: 'files', env: { KEY: key } } } });
  expect(await run('import', '--from', 'vscode')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`${key} cannot be resolved outside of VS Code`),
  });
});

test('VS Code goes on asking for the inputs of the servers that the gateway starts', async () => {
  const inputs = [{ id: 'api-key', type: 'promptString', description: 'Key', password: true }];
  const entry = serverEntry(home, 'files', [{ name: 'env' }], { env: { KEY: `\${input:api-key}` } });
  const file = writeClient('.config/Code/User/mcp.json', { servers: { files: entry }, inputs });
  const output = home.file('servers.json');
  expect(await run('import', '--from', 'vscode', '--output', output, '--replace')).toMatchObject({ code: 0 });
  const { servers, inputs: kept } = JSON.parse(readFileSync(file, 'utf8'));
  expect(kept).toEqual(inputs);
  expect(servers.mooring.env).toEqual({ MOORING_INPUT_API_KEY: `\${input:api-key}` });
  // As VS Code starts it.
  const { command, args } = servers.mooring;
  const env = { ...home.env, ...runtimeOf(home), MOORING_INPUT_API_KEY: 'value' };
  const client = await connect([command, ...args], { env, cwd: home.folder });
  const names = JSON.parse(textOf(await client.callTool('files__env', {})));
  expect(names).toContain('KEY');
  expect(names).not.toContain('MOORING_INPUT_API_KEY');
  await client.close();
});

test('a server that is added later joins the others in the gateway of the client', async () => {
  const file = writeClient('.cursor/mcp.json', {
    mcpServers: { files: serverEntry(home, 'files', [{ name: 'read' }]) },
  });
  const replace = (output: string) => run('import', '--from', 'cursor', '--output', output, '--replace');
  const [first, second] = [home.file('first.json'), home.file('second.json')];
  expect(await replace(first)).toMatchObject({ code: 0 });
  expect(await replace(first)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no servers to import: mooring already starts the gateway'),
  });
  const content = JSON.parse(readFileSync(file, 'utf8'));
  content.mcpServers.notes = serverEntry(home, 'notes', [{ name: 'add' }]);
  writeFileSync(file, JSON.stringify(content));
  expect(await replace(second)).toMatchObject({ code: 0 });
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
  expect(Object.keys(mcpServers)).toEqual(['mooring']);
  expect(mcpServers.mooring.args.slice(-5)).toEqual(['gateway', '--config', first, '--config', second]);
  const { command, args } = mcpServers.mooring;
  const client = await connect([command, ...args], { env: { ...home.env, ...runtimeOf(home) }, cwd: home.folder });
  expect(await toolNames(client)).toEqual(['files__read', 'notes__add']);
  await client.close();
});

test('with --shared, clients use one gateway', async () => {
  const cursor = writeClient('.cursor/mcp.json', {
    mcpServers: { files: serverEntry(home, 'files', [{ name: 'read' }]) },
  });
  const output = home.file('servers.json');
  const args = ['import', '--from', 'cursor', '--output', output, '--replace'];
  expect(await run(...args, '--shared')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('uses the shared gateway now'),
  });
  const entry = (): { command: string; args: string[] } => JSON.parse(readFileSync(cursor, 'utf8')).mcpServers.mooring;
  expect(entry().args.slice(-5)).toEqual(['connect', '--folder', '~', '--config', output]);
  expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining('already starts the gateway') });
  // An entry that starts a gateway of its own becomes one that shares it.
  const { command, args: shared } = entry();
  const own = { command, args: [...shared.slice(0, -5), 'gateway', '--config', output] };
  const notes = serverEntry(home, 'notes', [{ name: 'add' }]);
  writeFileSync(cursor, JSON.stringify({ mcpServers: { mooring: own, notes } }));
  const more = home.file('more.json');
  expect(await run('import', '--from', 'cursor', '--output', more, '--replace', '--shared')).toMatchObject({ code: 0 });
  expect(entry().args.slice(-7)).toEqual(['connect', '--folder', '~', '--config', output, '--config', more]);
  expect(await run('import', '--from', 'cursor', '--shared')).toMatchObject({ code: 2 });
});

test('a bridge to one server is imported like any other server', async () => {
  const bridge = { command: 'npx', args: ['-y', 'mooring@latest', 'gateway', 'https://far.example/mcp'] };
  const gateway = { command: 'npx', args: ['-y', 'mooring@latest', 'gateway', '--config', 'servers.json'] };
  writeClient('.cursor/mcp.json', { mcpServers: { bridge, gateway } });
  expect((await imported('--from', 'cursor')).mcpServers).toEqual({ bridge });
});

test('an entry that is not valid is not imported without what is wrong in it', async () => {
  const text = `{
  "mcpServers": {
    "files": { "command": "files", "args": "--root ." },
    "notes": { "comand": "notes" },
    "off": { "disabled": true }
  }
}`;
  const file = writeClient('.cursor/mcp.json', text);
  const { code, stderr } = await run('import', '--from', 'cursor', '--output', home.file('servers.json'), '--replace');
  expect(code).toBe(2);
  expect(stderr).toContain('mcp.json:3: files.args: must be a list of strings, not a string');
  expect(stderr).toContain('mcp.json:4: notes: needs a command or a url');
  expect(existsSync(home.file('servers.json'))).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('servers are replaced where the file has them', async () => {
  const files = { command: 'files' };
  const file = writeClient('settings.json', { mcp: { servers: { files }, inputs: [] }, 'editor.fontSize': 12 });
  const args = ['--from', 'vscode', '--file', file, '--output', home.file('servers.json'), '--replace'];
  expect(await run('import', ...args)).toMatchObject({ code: 0 });
  const changed = JSON.parse(readFileSync(file, 'utf8'));
  expect(Object.keys(changed)).toEqual(['mcp', 'editor.fontSize']);
  expect(Object.keys(changed.mcp.servers)).toEqual(['mooring']);
  const two = writeClient('two.json', { mcpServers: { files }, servers: { notes: { command: 'notes' } } });
  const before = readFileSync(two, 'utf8');
  expect(
    await run('import', '--from', 'cursor', '--file', two, '--output', home.file('two-servers.json'), '--replace'),
  ).toMatchObject({ code: 2, stderr: expect.stringContaining('has servers under mcpServers and servers') });
  expect(readFileSync(two, 'utf8')).toBe(before);
});

test('an output that cannot be written is an error that says why and what to do', async () => {
  writeClient('.cursor/mcp.json', { mcpServers: { far: { url: 'https://far.example/mcp' } } });
  const folder = home.file('a-folder');
  mkdirSync(folder);
  const failed = async (output: string) => run('import', '--from', 'cursor', '--output', output);
  expect(await failed(folder)).toMatchObject({
    code: 2,
    stderr: `mooring: ${folder} cannot be written: it is a folder. Choose another file with --output\n`,
  });
  const file = join(writeClient('a-file', ''), 'servers.json');
  expect(await failed(file)).toMatchObject({
    code: 2,
    stderr: `mooring: ${file} cannot be written: a part of its path is not a folder. Choose another file with --output\n`,
  });
});
