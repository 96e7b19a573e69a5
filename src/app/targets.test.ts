import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { findTarget } from './targets.ts';

afterEach(() => void vi.unstubAllEnvs());

function written(entry: object): string {
  const file = join(temporaryFolder(), 'servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { one: entry } }), { mode: 0o600 });
  return file;
}

test('a client command finds the secrets of an entry in the environment, and uses them as they are', async () => {
  const file = written({ url: 'https://x.example/mcp', headers: { A: { secret: 'api-key' }, B: `\${OTHER}` } });
  vi.stubEnv('OTHER', 'b');
  await expect(findTarget('one', file)).rejects.toThrow(
    /servers\.json:1: one: needs the secret api-key, .* MOORING_SECRET_API_KEY,/,
  );
  vi.stubEnv('MOORING_SECRET_API_KEY', `a\${OTHER}`);
  expect(await findTarget('one', file)).toMatchObject({ target: { headers: { A: `a\${OTHER}`, B: 'b' } } });
});

test('a value of an entry that is not text is an error, not left out', async () => {
  await expect(findTarget('one', written({ command: 'x', env: { K: {} } }))).rejects.toThrow(
    'one.env.K: must be a string',
  );
});

test('an entry has the variables of its file, its inputs, and the folder of its project, as in a gateway', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, '.vscode'));
  writeFileSync(join(folder, '.env'), 'FROM_FILE="a b"\nBOTH=file\n', { mode: 0o600 });
  const file = join(folder, '.vscode/mcp.json');
  const entry = {
    command: 'serve',
    args: [`\${workspaceFolder}/data`],
    env: { KEY: `\${input:key}`, BOTH: 'entry' },
    envFile: `\${workspaceFolder}/.env`,
    // A name on the command line starts it all the same.
    disabled: true,
  };
  const inputs = [{ id: 'key', type: 'promptString', description: 'The key' }];
  writeFileSync(file, JSON.stringify({ inputs, servers: { one: entry } }), { mode: 0o600 });
  await expect(findTarget('one', file)).rejects.toThrow(/mcp\.json:1: one: .*key.* MOORING_INPUT_KEY/);
  vi.stubEnv('MOORING_INPUT_KEY', 'k');
  expect(await findTarget('one', file)).toMatchObject({
    target: {
      command: 'serve',
      args: [join(folder, 'data')],
      env: { FROM_FILE: 'a b', BOTH: 'entry', KEY: 'k' },
    },
  });
  rmSync(join(folder, '.env'));
  await expect(findTarget('one', file)).rejects.toThrow(/one: needs the variables of .*\.env \(envFile\)/);
});

test('the file of another client has its own forms: variables of Codex, HTTP+SSE of Gemini CLI', async () => {
  const folder = temporaryFolder();
  const codex = join(folder, 'config.toml');
  writeFileSync(codex, '[mcp_servers.one]\nurl = "https://x.example/mcp"\nbearer_token_env_var = "TOKEN"\n', {
    mode: 0o600,
  });
  vi.stubEnv('TOKEN', 't');
  expect(await findTarget('one', codex)).toMatchObject({ target: { headers: { Authorization: 'Bearer t' } } });
  mkdirSync(join(folder, '.gemini'));
  const gemini = join(folder, '.gemini/settings.json');
  const entry = { url: 'https://x.example/sse', headers: { A: '$TOKEN' } };
  writeFileSync(gemini, JSON.stringify({ mcpServers: { one: entry } }), { mode: 0o600 });
  expect(await findTarget('one', gemini)).toMatchObject({ target: { type: 'sse', headers: { A: 't' } } });
});

test('in the file of Claude Code, the server of this folder comes first, and others can be named', async () => {
  const file = join(temporaryFolder(), '.claude.json');
  const entry = (url: string): object => ({ mcpServers: { one: { type: 'http', url } } });
  const projects = {
    '/elsewhere': { mcpServers: { two: { type: 'http', url: 'https://two.example/mcp' } } },
    [process.cwd()]: entry('https://here.example/mcp'),
  };
  writeFileSync(file, JSON.stringify({ projects, ...entry('https://user.example/mcp') }), { mode: 0o600 });
  expect(await findTarget('one', file)).toMatchObject({ target: { url: 'https://here.example/mcp' } });
  expect(await findTarget('two', file)).toMatchObject({ target: { url: 'https://two.example/mcp' } });
});
