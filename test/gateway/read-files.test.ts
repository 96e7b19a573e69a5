// Configuration files as users have them: those of clients are read as they are, and what is wrong names file and line.

import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type InputDefinition, Inputs } from '../../src/app/gateway/entries/inputs.ts';
import { readGatewayFiles } from '../../src/app/gateway/entries/read-files.ts';
import { settingsOfGateway } from '../../src/app/gateway/gateway-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const fixture = (name: string): string => join(import.meta.dirname, 'fixtures/configs', name);
const env = { TEST_TOKEN: 'secret' };

async function read(...names: string[]) {
  const { config, notes } = await readGatewayFiles(names.map(fixture), { env });
  return { servers: Object.fromEntries(config.servers.map((server) => [server.slug, server])), config, notes };
}

function written(text: string, name = 'servers.json'): string {
  const file = join(temporaryFolder(), name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

test('Claude Desktop: commands with arguments and variables', async () => {
  const { servers, notes } = await read('claude-desktop.json');
  expect(servers['filesystem']?.entry).toEqual({
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/Desktop'],
  });
  expect(servers['brave-search']).toMatchObject({ name: 'Brave Search', entry: { env: { BRAVE_API_KEY: 'abc' } } });
  expect(notes).toEqual([]);
});

test('Claude Code: variables with and without default, http and sse', async () => {
  const { servers } = await read('claude-code.json');
  expect(servers['github']).toMatchObject({
    entry: { type: 'http', headers: { Authorization: 'Bearer secret' } },
    auth: { kind: 'headers' },
  });
  expect(servers['legacy']?.entry).toEqual({ type: 'sse', url: 'https://sse.example.com/sse' });
  expect(servers['db']?.entry.command).toBe('/usr/bin/db-server');
});

test('Cursor: variables with env: in front, and the workspace folder', async () => {
  const folder = temporaryFolder();
  const file = join(folder, '.cursor', 'mcp.json');
  mkdirSync(dirname(file));
  writeFileSync(file, readFileSync(fixture('cursor.json')), { mode: 0o600 });
  const { config } = await readGatewayFiles([file], { env });
  const [local, remote] = config.servers;
  expect(local?.entry).toMatchObject({ args: [join(folder, 'tools/mcp_server.py')], env: { API_KEY: 'secret' } });
  expect(remote).toMatchObject({ entry: { url: 'https://remote.example.com/mcp' }, auth: { kind: 'oauth' } });
});

test('Gemini CLI: url means HTTP+SSE, $NAME is replaced if it is set, and its filters and timeout count', async () => {
  const { servers, notes } = await read('gemini.json');
  expect(servers['old']).toMatchObject({ entry: { type: 'sse' }, timeoutMs: 5_000 });
  expect(servers['new']?.entry).toEqual({ url: 'http://localhost:8081/mcp', headers: { 'X-Key': 'secret' } });
  expect(servers['py']).toMatchObject({
    entry: { cwd: join(dirname(fixture('x')), 'mcp_tools'), env: { KEY: 'secret', PRICE: '$5' } },
    tools: { include: ['safe_tool', 'file_reader'], exclude: ['file_reader'] },
  });
  expect(notes).toEqual([{ level: 'info', text: 'new: keys of other clients, without effect here: trust' }]);
});

test('Windsurf: serverUrl, disabled servers and tools', async () => {
  const { servers } = await read('windsurf.json');
  expect(servers['figma']?.entry).toMatchObject({
    url: 'https://figma.example.com/mcp',
    headers: { API_KEY: 'Bearer secret' },
  });
  expect(servers['memory']?.disabled).toBe(true);
  expect(servers['tools']?.tools).toEqual({ exclude: ['delete_everything'] });
});

test('VS Code: servers, comments, trailing commas, a file of variables; an unknown key is only a warning', async () => {
  const { servers, notes } = await read('vscode.jsonc');
  expect(Object.keys(servers)).toEqual(['playwright', 'docs']);
  expect(servers['playwright']?.entry.env).toEqual({ PLAYWRIGHT_KEY: 'secret value' });
  expect(notes).toEqual([{ level: 'warning', text: 'playwright: unknown keys, without effect: colour' }]);
});

describe('inputs of VS Code', () => {
  const file = fixture('vscode-inputs.json');
  const keyIn = async (inputs?: Inputs): Promise<string | undefined> => {
    const { config } = await readGatewayFiles([file], { env, inputs });
    return config.servers[0]?.entry.env?.['KEY'];
  };

  test('are asked for once, however often the file is read', async () => {
    const asked: InputDefinition[] = [];
    const typed = `a \${TEST_TOKEN} b`;
    const ask = async (input: InputDefinition) => {
      asked.push(input);
      return typed;
    };
    const inputs = new Inputs({ env: {}, ask });
    // What was typed is not expanded.
    expect([await keyIn(inputs), await keyIn(inputs)]).toEqual([typed, typed]);
    expect(asked).toMatchObject([{ id: 'perplexity-key', description: 'API key', password: true }]);
    inputs.stopAsking();
    expect(await keyIn(inputs)).toBeDefined();
  });

  test('come from the environment, or from a file that it names, before anything is asked', async () => {
    const secret = written('from a file\n', 'key.txt');
    const ask = () => Promise.reject(new Error('was asked'));
    expect(await keyIn(new Inputs({ env: { MOORING_INPUT_PERPLEXITY_KEY: 'given' }, ask }))).toBe('given');
    expect(await keyIn(new Inputs({ env: { MOORING_INPUT_PERPLEXITY_KEY_FILE: secret }, ask }))).toBe('from a file');
    await expect(keyIn(new Inputs({ env: { MOORING_INPUT_PERPLEXITY_KEY_FILE: '/nowhere' } }))).rejects.toThrow(
      /:4: perplexity: needs the input perplexity-key, and MOORING_INPUT_PERPLEXITY_KEY_FILE: .*\/nowhere/,
    );
  });

  test('without a terminal are an error with the input, its line and what to do', async () => {
    await expect(keyIn(new Inputs({ env: {} }))).rejects.toThrow(
      /:4: perplexity: needs the input perplexity-key \(API key\), and there is no terminal .* MOORING_INPUT_PERPLEXITY_KEY,/,
    );
  });

  test('have their default without a terminal, and one that is not defined or needs VS Code is an error', async () => {
    const text = (id: string): string =>
      JSON.stringify({
        inputs: [
          { id: 'region', type: 'pickString', options: ['eu', { label: 'America', value: 'us' }], default: 'eu' },
          { id: 'token', type: 'command', command: 'my.extension' },
        ],
        servers: { a: { url: 'https://x.example/mcp', headers: { 'X-A': `<\${input:${id}}>` } } },
      });
    const headersOf = async (id: string) => {
      const { config } = await readGatewayFiles([written(text(id))], { inputs: new Inputs({ env: {} }) });
      return config.servers[0]?.entry.headers;
    };
    expect(await headersOf('region')).toEqual({ 'X-A': '<eu>' });
    await expect(headersOf('token')).rejects.toThrow(/the input token, which only VS Code can find/);
    await expect(headersOf('other')).rejects.toThrow(/the input other, which is not defined under "inputs"/);
  });

  test('stay as they are when nothing is started', async () => {
    const { config, notes } = await readGatewayFiles([file], { env });
    expect(config.servers[0]?.entry.env).toEqual({ KEY: `\${input:perplexity-key}` });
    expect(notes).toContainEqual({
      level: 'info',
      text: 'perplexity: needs the input perplexity-key when it is served',
    });
  });
});

describe('secrets', () => {
  const text = JSON.stringify(
    {
      mcpServers: {
        local: { command: 'x', env: { KEY: { secret: 'api-key' } } },
        remote: { url: 'https://x.example/mcp', headers: { Authorization: { secret: 'api-key' } } },
        machine: {
          url: 'https://y.example/mcp',
          mooring: { auth: { kind: 'client-credentials', clientId: 'me', clientSecret: { secret: 'other' } } },
        },
      },
    },
    null,
    1,
  );
  const readWith = (given: Record<string, string>) =>
    readGatewayFiles([written(text)], { inputs: new Inputs({ env: given }) });

  test('of variables, headers and clients come from the environment or a file that it names', async () => {
    const file = written('from a file\n', 'other.txt');
    const { config } = await readWith({ MOORING_SECRET_API_KEY: 'given', MOORING_SECRET_OTHER_FILE: file });
    expect(config.servers).toMatchObject([
      { entry: { env: { KEY: 'given' } } },
      { entry: { headers: { Authorization: 'given' } }, auth: { kind: 'headers' } },
      { auth: { clientSecret: 'from a file' } },
    ]);
  });

  test('are asked for once at the terminal, without being shown', async () => {
    const asked: InputDefinition[] = [];
    const ask = async (input: InputDefinition) => {
      asked.push(input);
      return 'typed';
    };
    const { config } = await readGatewayFiles([written(text)], { inputs: new Inputs({ env: {}, ask }) });
    expect(config.servers[0]?.entry.env).toEqual({ KEY: 'typed' });
    expect(asked).toMatchObject([
      { id: 'api-key', password: true },
      { id: 'other', password: true },
    ]);
  });

  test('that are missing are errors with their lines that say how to set them', async () => {
    const { message } = (await readWith({}).catch((error: unknown) => error)) as Error;
    const lines = message.split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      /:6: local: needs the secret api-key, and there is no terminal .* MOORING_SECRET_API_KEY,/,
    );
    expect(lines[2]).toMatch(/:\d+: machine: needs the secret other, .* MOORING_SECRET_OTHER_FILE to a file/);
  });

  test('stay as texts when nothing is started', async () => {
    const { config, notes } = await readGatewayFiles([written(text)], { env: {} });
    expect(config.servers[0]?.entry.env).toEqual({ KEY: `\${secret:api-key}` });
    expect(config.servers[1]?.auth.kind).toBe('headers');
    expect(notes).toContainEqual({ level: 'info', text: 'local: needs the secrets api-key when it is served' });
  });
});

test('values that are not text are errors with their lines; numbers and booleans are turned into text', async () => {
  const { config } = await readGatewayFiles([
    written(
      '{ "mcpServers": { "a": { "command": "x", "args": ["p", 5, true], "env": { "N": 1, "B": false, "U": null } } } }',
    ),
  ]);
  expect(config.servers[0]?.entry).toEqual({ command: 'x', args: ['p', '5', 'true'], env: { N: '1', B: 'false' } });
  const wrong = written(`{ "mcpServers": {
    "a": { "command": "x",
      "env": { "K": { "name": "n" } },
      "args": ["p", null] },
    "b": { "url": "https://x.example/mcp",
      "headers": { "A": ["1"] } },
    "c": { "command": "x", "args": "--all" },
    "d": { "command": "x", "args": [{ "secret": "n" }] } } }`);
  const { message } = (await readGatewayFiles([wrong]).catch((error: unknown) => error)) as Error;
  expect(message.replaceAll(wrong, 'file').split('\n')).toEqual([
    'file:4: a.args[1]: must be a string, not null',
    'file:3: a.env.K: must be a string or { "secret": "name" }, not an object',
    'file:6: b.headers.A: must be a string or { "secret": "name" }, not a list',
    'file:7: c.args: must be a list of strings, not a string',
    'file:8: d.args[0]: must be a string, not an object: command lines are visible to all users; put the secret into env',
  ]);
});

test('VS Code: a variable that is not set is empty, and the folder of .vscode is the workspace', async () => {
  const file = written(
    `{ "servers": { "a": { "command": "x", "args": ["\${workspaceFolder}", "<\${env:NOT_SET_ANYWHERE}>", "\${env:TEST_TOKEN}"] } } }`,
    '.vscode/mcp.json',
  );
  const { config, notes } = await readGatewayFiles([file], { env });
  expect(config.servers[0]?.entry.args).toEqual([dirname(dirname(file)), '<>', 'secret']);
  expect(notes).toEqual([
    { level: 'warning', text: 'a: the environment variable NOT_SET_ANYWHERE is not set and stays empty' },
  ]);
});

test('Codex: TOML, the variable of the token, seconds', async () => {
  const { servers } = await read('codex.toml');
  expect(servers['context7']).toMatchObject({
    entry: { env: { MY_VAR: 'value' } },
    timeoutMs: 30_000,
    tools: { include: ['search'] },
  });
  expect(servers['figma']).toMatchObject({ disabled: true, entry: { headers: { Authorization: 'Bearer secret' } } });
});

test('Cline: a time limit in seconds', async () => {
  const { servers } = await read('cline.json');
  expect(servers['weather']).toMatchObject({ timeoutMs: 60_000, entry: { url: 'https://weather.example.com/mcp' } });
});

test('mooring.json: our keys, views, and its settings', async () => {
  const { servers, config } = await read('mooring.json');
  expect(servers['github']?.auth).toEqual({ kind: 'oauth', scopes: ['repo'] });
  expect(servers['files']).toMatchObject({ isolation: 'session', tools: { exclude: ['write_*'] }, pin: 'block' });
  expect(config.views).toMatchObject([
    { name: 'safe', servers: ['files'] },
    { name: 'big', servers: '*', mode: 'search', shortList: ['files__read_file'] },
  ]);
  const file = written(readFileSync(fixture('mooring.json'), 'utf8'));
  expect((await settingsOfGateway({ files: [file] })).settings.http?.port).toBe(9_000);
});

test('several files are read together, in their order', async () => {
  const { servers } = await read('claude-desktop.json', 'vscode.jsonc');
  expect(Object.keys(servers)).toEqual(['filesystem', 'brave-search', 'playwright', 'docs']);
});

test('the same server in two files is an error that names both files and lines', async () => {
  const error = await read('claude-code.json', 'mooring.json').catch((each: Error) => each);
  expect((error as Error).message).toMatch(
    /mooring\.json:5: .*"github" and "github" would both be called github.* The other is at .*claude-code\.json:3$/,
  );
});

test('a variable that is not set is an error with its line, except for a disabled server', async () => {
  const text = (more: string) =>
    `{\n "mcpServers": {\n  "a": { ${more}"command": "x",\n   "env": { "K": "\${NOT_SET_ANYWHERE}" } }\n }\n}`;
  await expect(readGatewayFiles([written(text(''))])).rejects.toThrow(
    /servers\.json:4: a: needs the environment variable NOT_SET_ANYWHERE/,
  );
  await expect(readGatewayFiles([written(text('"disabled": true, '))])).resolves.toBeDefined();
});

test('an unknown key of ours is an error with the nearest known key', async () => {
  const file = written('{\n "mcpServers": {\n  "a": { "command": "x", "mooring": {\n   "isolaton": "call" } }\n }\n}');
  await expect(readGatewayFiles([file])).rejects.toThrow(/servers\.json:4: .*did you mean "isolation"\?/);
});

test('broken files are reported with the place', async () => {
  await expect(readGatewayFiles([written('{ "mcpServers": { "a": }')])).rejects.toThrow(/servers\.json:1:\d+/);
  await expect(readGatewayFiles([written('{}')])).rejects.toThrow('has no servers');
  await expect(readGatewayFiles(['/nowhere/servers.json'])).rejects.toThrow('does not exist');
});

test.skipIf(process.platform === 'win32')('a file that other users can write is rejected', async () => {
  const file = written('{ "mcpServers": { "a": { "command": "x" } } }');
  chmodSync(file, 0o666);
  await expect(readGatewayFiles([file])).rejects.toThrow(/other users can write to it/);
});

test.skipIf(process.getuid?.() !== 0)(
  'a file that a group can write is rejected, unless it is the group of the user',
  async () => {
    const file = written('{ "mcpServers": { "a": { "command": "x" } } }');
    chmodSync(file, 0o664);
    await expect(readGatewayFiles([file])).resolves.toBeDefined();
    chownSync(file, 0, 54_321);
    await expect(readGatewayFiles([file])).rejects.toThrow(/other users can write to it .* chmod go-w/);
  },
);
