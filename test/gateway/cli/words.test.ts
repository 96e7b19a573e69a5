// What is typed after "mooring gateway": every word counts, or is an error that says what to do.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { useSharedHome } from '../../support/program.ts';
import { runtimeOf, writeConfig } from './support.ts';

const home = useSharedHome();

const run = (...args: string[]) => home.run(['gateway', ...args], { env: runtimeOf(home) });
const rejected = (text: string) => ({ code: 2, stderr: expect.stringContaining(text) });

test('a word that a command does not expect is an error', async () => {
  const config = writeConfig(home, { mcpServers: { files: { command: 'files' } } });
  const unexpected = (word: string) => rejected(`Unexpected argument ${JSON.stringify(word)}`);
  expect(await run('check', '--config', config, 'other.json')).toMatchObject(unexpected('other.json'));
  expect(await run('status', 'files')).toMatchObject(unexpected('files'));
  expect(await run('tools', '--config', config, 'files', 'more')).toMatchObject(unexpected('more'));
  expect(await run('import', 'cursor')).toMatchObject(unexpected('cursor'));
  expect(await run('pins', 'diff', 'files', 'more')).toMatchObject(unexpected('more'));
});

test('a mistyped command is named, also with options', async () => {
  expect(await run('chek', '--config', 'x.json')).toMatchObject(rejected('did you mean "check"?'));
  expect(await run('--config', 'x.json', 'status')).toMatchObject(
    rejected('The command comes first: mooring gateway status'),
  );
  expect(await run('node', 'server.mjs')).toMatchObject(rejected('as in: mooring gateway -- node server.mjs'));
});

test('a URL that is not valid, or that has credentials, and a view of a single server are errors', async () => {
  expect(await run('http://exa mple/')).toMatchObject(rejected('"http://exa mple/" is not a valid URL'));
  const credentials = await run('https://user:pass@example.com/mcp');
  expect(credentials).toMatchObject(rejected('The URL has credentials in it'));
  expect(credentials.stderr).not.toContain('pass@');
  expect(await run('--', '')).toMatchObject(rejected('The command after -- is empty'));
  expect(await run('--view', 'safe', '--', 'node', 'server.mjs')).toMatchObject(
    rejected('--view is for servers of a file'),
  );
});

test.skipIf(process.platform === 'win32')('a pipe is not a configuration file', async () => {
  const pipe = home.file('pipe.json');
  execFileSync('mkfifo', [pipe]);
  expect(await run('check', '--config', pipe)).toMatchObject(rejected('pipe.json: this is not a regular file'));
});

test('a view whose name cannot be part of an address is an error that says which names can', async () => {
  const config = writeConfig(home, {
    mcpServers: { files: { command: 'files' } },
    gateway: { views: { 'My view': {} } },
  });
  const message =
    'gateway.views["My view"]: is not a name for a view: use up to 64 lower-case letters, digits and hyphens, without a hyphen at the start';
  expect(await run('check', '--config', config)).toMatchObject(rejected(message));
});

test('a file that does not exist is named as it is, whichever option names it', async () => {
  const missing = home.file('missing.json');
  const message = rejected(`mooring: ${missing}: the file does not exist`);
  expect(await run('--config', missing)).toMatchObject(message);
  expect(await home.run(['serve', 'clipboard', '--gateway', missing], { env: runtimeOf(home) })).toMatchObject(message);
});
