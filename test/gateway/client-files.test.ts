// Files of clients with more in them than servers, and servers that only the client can start.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { settingsOfGateway } from '../../src/app/gateway/gateway-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function written(name: string, content: string | object): string {
  const file = join(temporaryFolder(), name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return file;
}

/** Reads a file of this content as the program does. */
async function read(name: string, content: string | object) {
  const { config, notes } = await settingsOfGateway({ files: [written(name, content)] });
  return { servers: config.servers, notes };
}

test('Gemini CLI: the lists of names under "mcp" are not servers', async () => {
  const { servers } = await read('.gemini/settings.json', {
    mcp: { allowed: ['files'], excluded: ['other'] },
    mcpServers: { files: { command: 'files' } },
  });
  expect(servers.map(({ name }) => name)).toEqual(['files']);
});

test('Codex: a file that has a profile is still a file of Codex', async () => {
  const { servers } = await read(
    '.codex/config.toml',
    'model = "gpt-5"\nprofile = "work"\n\n[mcp_servers.files]\ncommand = "files"\n',
  );
  expect(servers.map(({ name }) => name)).toEqual(['files']);
});

test('opencode: {env:NAME} is replaced, and empty if it is not set', async () => {
  const { servers, notes } = await read('opencode.json', {
    mcp: {
      a: { type: 'remote', url: 'https://a.example/mcp', headers: { 'X-Home': '{env:HOME}' } },
      b: { type: 'local', command: ['b'], environment: { KEY: 'x{env:NOT_SET_HERE}' } },
    },
  });
  expect(servers[0]?.entry.headers).toEqual({ 'X-Home': process.env['HOME'] });
  expect(servers[1]?.entry.env).toEqual({ KEY: 'x' });
  expect(notes).toContainEqual({
    level: 'warning',
    text: 'b: the environment variable NOT_SET_HERE is not set and stays empty',
  });
});

test('Codex: headers and variables of the environment by their names', async () => {
  const { servers, notes } = await read(
    '.codex/config.toml',
    `[mcp_servers.far]
url = "https://far.example/mcp"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Home" = "HOME" }

[mcp_servers.files]
command = "files"
env_vars = ["LANG", { name = "TZ", source = "local" }]
`,
  );
  expect(servers[0]).toMatchObject({
    entry: { headers: { 'X-Region': 'eu', 'X-Home': process.env['HOME'] } },
    auth: { kind: 'headers' },
  });
  expect(servers[1]?.inheritEnv).toEqual(['LANG', 'TZ']);
  expect(notes).toEqual([]);
});

test('Codex: a variable that is not set is named with the key that names it, and its line', async () => {
  const reading = read(
    '.codex/config.toml',
    `[mcp_servers.far]
url = "https://far.example/mcp"
bearer_token_env_var = "NOT_SET_TOKEN"
env_http_headers = { "X-Region" = "NOT_SET_REGION" }
`,
  );
  await expect(reading).rejects.toThrow(
    'config.toml:3: far: needs the environment variable NOT_SET_TOKEN (bearer_token_env_var), which is not set; set it',
  );
  await expect(reading).rejects.toThrow(
    'config.toml:4: far: needs the environment variable NOT_SET_REGION (env_http_headers), which is not set; set it',
  );
});

test('~ is the home folder for the program, its folder, its roots and its sandbox; no shell replaces it', async () => {
  const home = process.env['HOME'] as string;
  const { servers } = await read('mcp.json', {
    mcpServers: {
      files: {
        command: '~/bin/files',
        args: ['~/notes'],
        cwd: '~/project',
        mooring: { roots: ['~', '~/notes', './~'], sandbox: { readOnly: ['~/notes'], writable: ['~'] } },
      },
      home: { command: '~/bin/other', cwd: '~' },
      other: { command: '~user/bin/x' },
    },
  });
  expect(servers[0]).toMatchObject({
    entry: { command: join(home, 'bin/files'), args: ['~/notes'], cwd: join(home, 'project') },
    sandbox: { readOnly: [join(home, 'notes')], writable: [home] },
  });
  expect(servers[0]?.roots?.slice(0, 2).map(({ uri }) => uri)).toEqual([
    pathToFileURL(home).href,
    pathToFileURL(join(home, 'notes')).href,
  ]);
  expect(servers[1]?.entry).toMatchObject({ command: join(home, 'bin/other'), cwd: home });
  expect(servers[2]?.entry.command).toBe('~user/bin/x');
});

test('a file in UTF-16, as PowerShell writes it, is an error that says so', async () => {
  const text = '{ "mcpServers": { "a": { "command": "x" } } }';
  const path = written('mcp.json', '');
  for (const bytes of [Buffer.from(`\uFEFF${text}`, 'utf16le'), Buffer.from(text, 'utf16le')]) {
    writeFileSync(path, bytes);
    await expect(settingsOfGateway({ files: [path] })).rejects.toThrow(`${path}: it is in UTF-16; save it as UTF-8`);
  }
});

test('Zed: a server of an extension is left out, and the others are served', async () => {
  const { servers, notes } = await read('zed/settings.json', {
    context_servers: {
      github: { source: 'extension', settings: { token: 'x' } },
      older: { settings: {} },
      files: { command: 'files', args: [] },
    },
  });
  expect(servers.map(({ name }) => name)).toEqual(['files']);
  expect(notes.map(({ text }) => text)).toEqual([
    'github: left out, because it belongs to an extension of Zed, which only Zed can start',
    'older: left out, because it belongs to an extension of Zed, which only Zed can start',
  ]);
});

test('Claude Code: a server of the project replaces the one of the user', async () => {
  const { servers } = await read('.claude.json', {
    mcpServers: { files: { command: 'of-user' }, notes: { command: 'notes' } },
    projects: {
      [process.cwd()]: { mcpServers: { files: { command: 'of-project' } } },
      '/elsewhere': { mcpServers: { other: { command: 'other' } } },
    },
  });
  expect(servers.map(({ entry }) => entry.command)).toEqual(['notes', 'of-project']);
});

test('TOML: errors have their lines', async () => {
  const text = `model = "gpt-5"

[mcp_servers.files]
command = "files"
args = "one"

[mcp_servers.far]
url = "nowhere"
[mcp_servers.far.http_headers]
X-Region = "eu"
`;
  const error = await read('.codex/config.toml', text).catch((each: Error) => each);
  expect((error as Error).message).toMatch(/config\.toml:5: files\.args: must be a list.*\n.*config\.toml:8: far\.url/);
  const unset = text.replace('"eu"', `"\${NOT_SET_HERE}"`);
  await expect(read('.codex/config.toml', unset)).rejects.toThrow(
    /config\.toml:10: far: needs the environment variable/,
  );
});

test('a switch or filter of the wrong type is an error: it would start a server, or show a tool, that is not wanted', async () => {
  const content = {
    mcpServers: {
      a: { command: 'a', disabled: 'true' },
      b: { command: 'b', enabled: 0 },
      c: { command: 'c', excludeTools: 'write' },
      d: { command: 'd', includeTools: [1] },
      e: { command: 'e', disabled: true, excludeTools: 'write' },
      f: { command: 'f', disabled: null, includeTools: [] },
    },
  };
  const error = await read('servers.json', content).catch((each: Error) => each);
  expect((error as Error).message.split('\n').map((line) => line.replace(/^.*json:1: /, ''))).toEqual([
    'a.disabled: must be true or false, not a string',
    'b.enabled: must be true or false, not a number',
    'c.excludeTools: must be a list of names of tools, not a string',
    'd.includeTools: must be a list of names of tools',
  ]);
});

test('a server that is defined twice in a file is a warning', async () => {
  const { servers, notes } = await read(
    'mcp.json',
    '{ "mcpServers": { "a": { "command": "x" }, "a": { "command": "y" } } }',
  );
  expect(servers.map(({ entry }) => entry.command)).toEqual(['y']);
  expect(notes.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^a: defined more than once in .*mcp\.json; the last definition counts$/),
  ]);
});
