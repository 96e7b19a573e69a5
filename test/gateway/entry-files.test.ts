// Files that entries of servers name: variables of VS Code and Cursor, values of opencode; and what only VS Code can resolve.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readGatewayFiles } from '../../src/app/gateway/entries/read-files.ts';
import { reasonForCallers } from '../../src/gateway/upstreams/start-error.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Writes files into a new folder; returns the folder. */
function written(files: Readonly<Record<string, string | object>>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 1), { mode: 0o600 });
  }
  return folder;
}

async function read(file: string, env: Readonly<Record<string, string>> = {}) {
  const { config, notes } = await readGatewayFiles([file], { env });
  return { entries: Object.fromEntries(config.servers.map(({ slug, entry }) => [slug, entry])), notes };
}

const server = (more: object) => ({ command: 'server', ...more });

test('variables of a file are those of the command; its own take precedence, and null means not set', async () => {
  const folder = written({
    'mcp.json': {
      mcpServers: { one: server({ envFile: 'some.env', env: { B: 'own', C: null } }) },
    },
    'some.env': `# comment\nexport A="a b"\nB=file\nC=file\nD=\${HOME} \${input:x} {file:y} # not replaced\n`,
  });
  const { entries, notes } = await read(join(folder, 'mcp.json'), { HOME: '/home/me' });
  expect(entries['one']?.env).toEqual({ A: 'a b', B: 'own', D: `\${HOME} \${input:x} {file:y}` });
  expect(notes).toEqual([]);
});

test('the file is found beside the configuration, in the project, and by variables', async () => {
  const folder = written({
    '.vscode/mcp.json': {
      servers: {
        beside: server({ envFile: 'beside.env' }),
        project: server({ envFile: 'project.env' }),
        workspace: server({ envFile: `\${workspaceFolder}/project.env` }),
        elsewhere: server({ envFile: `\${env:SECRETS}/other.env` }),
      },
    },
    '.vscode/beside.env': 'PLACE=beside',
    'project.env': 'PLACE=project',
    'secrets/other.env': 'PLACE=elsewhere',
  });
  const { entries } = await read(join(folder, '.vscode/mcp.json'), { SECRETS: join(folder, 'secrets') });
  const places = Object.values(entries).map((entry) => entry.env?.['PLACE']);
  expect(places).toEqual(['beside', 'project', 'project', 'elsewhere']);
});

test('a file that is missing or that others can write is an error of its server, with its line', async () => {
  const folder = written({
    'mcp.json': {
      mcpServers: {
        missing: server({ envFile: 'none.env' }),
        open: server({ envFile: 'open.env' }),
        wrong: server({ envFile: ['a.env'] }),
        off: server({ envFile: 'none.env', disabled: true }),
        far: { url: 'https://example.com/mcp', envFile: 'none.env' },
      },
    },
    'open.env': 'A=1',
  });
  const file = join(folder, 'mcp.json');
  chmodSync(join(folder, 'open.env'), 0o666);
  const message = await read(file).then(String, (error: Error) => error.message);
  expect(message.split('\n').map((line) => line.replace(folder, ''))).toEqual([
    `/mcp.json:5: missing: needs the variables of ${join(folder, 'none.env')} (envFile), which cannot be read: there is no such file`,
    expect.stringMatching(/^\/mcp\.json:9: open: .*other users can write to it.* chmod go-w /),
  ]);
});

test('a pipe is not read, which would wait for its writer', async () => {
  const folder = written({
    'mcp.json': { mcpServers: { one: server({ envFile: 'pipe' }) } },
    'opencode.json': { mcp: { one: { type: 'local', command: ['server'], environment: { KEY: '{file:pipe}' } } } },
  });
  execFileSync('mkfifo', ['-m', '600', join(folder, 'pipe')]);
  for (const name of ['mcp.json', 'opencode.json']) {
    await expect(read(join(folder, name))).rejects.toThrow('which cannot be read: it is not a file');
  }
});

test('an envFile that is not a text is an error; lines without a variable are reported', async () => {
  const folder = written({
    'wrong.json': { mcpServers: { wrong: server({ envFile: ['a.env'] }) } },
    'lines.json': { mcpServers: { one: server({ envFile: 'lines.env' }) } },
    'lines.env': 'A=1\nNAME\n',
  });
  await expect(read(join(folder, 'wrong.json'))).rejects.toThrow(/:5: .*envFile.*must be a string, not a list/);
  const { entries, notes } = await read(join(folder, 'lines.json'));
  expect(entries['one']?.env).toEqual({ A: '1' });
  const text = `one: line 2 of ${join(folder, 'lines.env')} is not NAME=value, and is left out`;
  expect(notes).toEqual([{ level: 'warning', text }]);
});

test('callers do not see values of the file', async () => {
  const folder = written({
    'mcp.json': { mcpServers: { one: server({ envFile: 'some.env' }) } },
    'some.env': 'KEY=S3CRET-value',
  });
  const { entries } = await read(join(folder, 'mcp.json'));
  const reason = reasonForCallers(new Error('cannot use key S3CRET-value'), entries['one'] as object);
  expect(reason).toBe('cannot use key [hidden]');
});

test('opencode: {file:…} is the content of a file, in variables and headers', async () => {
  const folder = written({
    'opencode.json': {
      mcp: {
        local: {
          type: 'local',
          command: ['server'],
          environment: { KEY: '{file:key.txt}', BOTH: 'a-{file:./key.txt}-{env:X}' },
        },
        far: { type: 'remote', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer {file:key.txt}' } },
      },
    },
    'key.txt': `  va\${X}lue\n`,
  });
  const { entries } = await read(join(folder, 'opencode.json'), { X: 'x' });
  expect(entries['local']?.env).toEqual({ KEY: `va\${X}lue`, BOTH: `a-va\${X}lue-x` });
  expect(entries['far']?.headers).toEqual({ Authorization: `Bearer va\${X}lue` });
});

test('opencode: a file that is missing, and one in a command line, are errors; other clients have no such form', async () => {
  const folder = written({
    'opencode.json': {
      mcp: {
        missing: { type: 'local', command: ['server'], environment: { KEY: '{file:none.txt}' } },
        visible: { type: 'local', command: ['server', '{file:none.txt}'] },
      },
    },
    'mcp.json': { mcpServers: { one: server({ env: { KEY: '{file:none.txt}' } }) } },
  });
  const message = await read(join(folder, 'opencode.json')).then(String, (error: Error) => error.message);
  expect(message.split('\n')).toEqual([
    expect.stringMatching(/:9: missing: needs the content of .*none\.txt, which cannot be read: there is no such file/),
    expect.stringMatching(/:16: visible: \{file:none\.txt\} is replaced in variables and headers only/),
  ]);
  expect((await read(join(folder, 'mcp.json'))).entries['one']?.env).toEqual({ KEY: '{file:none.txt}' });
});

test('opencode: a file that others can write is an error of its server, as envFile is', async () => {
  const folder = written({
    'opencode.json': {
      mcp: {
        open: { type: 'local', command: ['server'], environment: { KEY: '{file:key.txt}' } },
        far: { type: 'remote', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer {file:key.txt}' } },
      },
    },
    'key.txt': 'value',
  });
  const key = join(folder, 'key.txt');
  chmodSync(key, 0o666);
  const message = await read(join(folder, 'opencode.json')).then(String, (error: Error) => error.message);
  const why = `${key}: other users can write to it and change what runs here; run: chmod go-w ${key}`;
  const file = join(folder, 'opencode.json');
  expect(message.split('\n')).toEqual([`${file}:9: open: ${why}`, `${file}:16: far: ${why}`]);
});

test('settings and commands of VS Code are errors of their server, not texts', async () => {
  const folder = written({
    '.vscode/mcp.json': {
      servers: {
        config: server({ env: { KEY: `\${config:ext.key}` } }),
        command: server({ args: [`--x=\${command:ext.pick}`] }),
        escaped: server({ args: [`$\${config:x}`] }),
        off: server({ args: [`\${config:x}`], disabled: true }),
      },
    },
    'mcp.json': { mcpServers: { other: server({ args: [`\${config:x}`] }) } },
  });
  const message = await read(join(folder, '.vscode/mcp.json')).then(String, (error: Error) => error.message);
  expect(message.split('\n')).toEqual([
    expect.stringMatching(/:6: config: \$\{config:ext\.key\} cannot be resolved outside of VS Code; write the value/),
    expect.stringMatching(/:12: command: \$\{command:ext\.pick\} cannot be resolved outside of VS Code/),
  ]);
  expect((await read(join(folder, 'mcp.json'))).entries['other']?.args).toEqual([`\${config:x}`]);
});
