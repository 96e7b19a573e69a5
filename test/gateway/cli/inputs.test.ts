// Inputs of a VS Code file as a user meets them: at a terminal, and without one.

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { cli, useHome } from '../../support/program.ts';
import { hasTerminal, Terminal } from '../../support/terminal.ts';
import { connectStdio, runtimeOf, serverEntry, writeConfig } from './support.ts';

const home = useHome();
const secret = 'pa55-of-the-user';

function writeInputs(): string {
  const key = `\${input:api-key}`;
  const environment = { KEY: key, REGION: `\${input:region}` };
  const entry = serverEntry(home, 'one', [{ name: 'env' }], { env: environment });
  return writeConfig(home, {
    inputs: [
      { id: 'api-key', type: 'promptString', description: 'Key of the API', password: true },
      { id: 'region', type: 'pickString', description: 'Where', options: ['eu', 'us'], default: 'eu' },
    ],
    servers: { one: entry },
  });
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);

test.skipIf(!hasTerminal)(
  'are asked for at a terminal, a password without being shown, and nothing is stored',
  async () => {
    const terminal = new Terminal(
      home,
      ['gateway', '--config', writeInputs(), '--http', '--port', '0'],
      runtimeOf(home),
    );
    await terminal.sees('api-key: ');
    expect(terminal.screen).toContain('Key of the API');
    terminal.type(`${secret}\r`);
    await terminal.sees(/region \[eu\]: /);
    terminal.type('3\r');
    await terminal.sees('Enter a number from 1 to 2.');
    terminal.type('2\r');
    await terminal.sees(/listening on http/);
    expect(terminal.screen).not.toContain(secret);
    const url = /listening on (http:\/\/[^\s"]+)/.exec(terminal.screen)?.[1] as string;
    const client = await connect(url);
    const { content } = await client.callTool('one__env', {});
    expect(JSON.parse((content[0] as { text: string }).text)).toEqual(expect.arrayContaining(['KEY', 'REGION']));
    await client.close();
    expect(filesBelow(home.path).filter((file) => readFileSync(file, 'utf8').includes(secret))).toEqual([]);
  },
);

test('without a terminal the error names the input, and the environment can give it', async () => {
  const config = writeInputs();
  const without = await home.run(['gateway', '--config', config], { env: runtimeOf(home) });
  expect(without.code).toBe(2);
  expect(without.stderr).toMatch(/one: needs the input api-key \(Key of the API\), .* MOORING_INPUT_API_KEY,/);
  const client = await connect([process.execPath, cli, 'gateway', '--config', config], {
    env: { ...home.env, ...runtimeOf(home), MOORING_INPUT_API_KEY: secret },
  });
  const { content } = await client.callTool('one__env', {});
  const names = JSON.parse((content[0] as { text: string }).text) as string[];
  expect(names).toContain('KEY');
  expect(names.filter((name) => name.startsWith('MOORING_'))).toEqual(['MOORING_OUTER_GATEWAYS']);
  await client.close();
});

test('"gateway check" asks for nothing and shows the reference', async () => {
  const { code, stdout } = await home.run(['gateway', 'check', '--json', '--config', writeInputs()]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).notes).toEqual([
    { level: 'info', text: 'one: needs the inputs api-key, region when it is served' },
  ]);
});

test.skipIf(!hasTerminal)('"gateway login" stores inputs and secrets for gateways without a terminal', async () => {
  const env = runtimeOf(home);
  const entry = serverEntry(home, 'one', [{ name: 'env' }], {
    env: { KEY: { secret: 'api key' }, REGION: `\${input:region}` },
  });
  const inputs = [{ id: 'region', type: 'promptString', description: 'Where' }];
  const config = ['--config', writeConfig(home, { inputs, servers: { one: entry } })];
  const refused = await home.run(['gateway', ...config], { env });
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('needs the secret api key, and there is no'),
  });
  expect(refused.stderr).toContain('Enter it once at a terminal with "mooring gateway login --config FILE"');

  const terminal = new Terminal(home, ['gateway', 'login', ...config], env);
  await terminal.sees('region: ');
  terminal.type('eu\r');
  await terminal.sees('api key: ');
  terminal.type(`${secret}\r`);
  await terminal.sees('Stored: region, api key');
  expect(await terminal.exited).toBe(0);
  expect(terminal.screen).not.toContain(secret);
  const holding = (text: string): string[] =>
    filesBelow(home.path).filter((file) => readFileSync(file, 'utf8').includes(text));
  const [file = '', ...more] = holding(secret);
  expect(more).toEqual([]);
  expect(statSync(file).mode & 0o077).toBe(0);

  const client = await connectStdio(home, config);
  const { content } = await client.callTool('one__env', {});
  expect(JSON.parse((content[0] as { text: string }).text)).toEqual(expect.arrayContaining(['KEY', 'REGION']));
  await client.close();
  const known = await home.run(['gateway', 'login', ...config], { env });
  expect(known).toMatchObject({ code: 0, stderr: expect.stringContaining('All inputs and secrets are known') });

  const again = new Terminal(home, ['gateway', 'login', '--again', ...config], env);
  await again.sees('region: ');
  again.type('us\r');
  await again.sees('api key: ');
  again.type('another-value\r');
  expect(await again.exited).toBe(0);
  expect([holding(secret), holding('another-value')]).toEqual([[], [file]]);

  const deleted = await home.run(['gateway', 'logout', ...config], { env });
  expect(deleted).toMatchObject({ code: 0, stderr: expect.stringContaining('Deleted 2 stored values') });
  expect(holding('another-value')).toEqual([]);
  expect((await home.run(['gateway', ...config], { env })).code).toBe(2);
});

test.skipIf(!hasTerminal)('with MOORING_CREDENTIALS_KEY, stored values are encrypted', async () => {
  const key = randomBytes(32).toString('base64');
  const env = { ...runtimeOf(home), MOORING_CREDENTIALS_KEY: key };
  const entry = serverEntry(home, 'one', [{ name: 'env' }], { env: { KEY: { secret: 'api key' } } });
  const config = ['--config', writeConfig(home, { mcpServers: { one: entry } })];
  const terminal = new Terminal(home, ['gateway', 'login', ...config], env);
  await terminal.sees('api key: ');
  terminal.type(`${secret}\r`);
  expect(await terminal.exited).toBe(0);
  expect(filesBelow(home.path).filter((file) => readFileSync(file, 'utf8').includes(secret))).toEqual([]);

  const client = await connectStdio(home, config, { MOORING_CREDENTIALS_KEY: key });
  const { content } = await client.callTool('one__env', {});
  const names = JSON.parse((content[0] as { text: string }).text) as string[];
  expect(names).toContain('KEY');
  expect(names.filter((name) => name.startsWith('MOORING_'))).toEqual(['MOORING_OUTER_GATEWAYS']);
  await client.close();

  const start = (value: string) =>
    home.run(['gateway', ...config], { env: { ...env, MOORING_CREDENTIALS_KEY: value } });
  const without = await start('');
  expect([without.code, without.stderr]).toEqual([
    2,
    expect.stringMatching(/is encrypted. Set MOORING_CREDENTIALS_KEY/),
  ]);
  const weak = await start('secret');
  expect([weak.code, weak.stderr]).toEqual([2, expect.stringMatching(/must be 32 random bytes in base64/)]);
  expect(`${without.stderr}${weak.stderr}`).not.toMatch(/\n\s+at /);
});

test('"gateway login" says which servers have no sign-in', async () => {
  const config = writeConfig(home, { mcpServers: { one: serverEntry(home, 'one', []) } });
  const command = await home.run(['gateway', 'login', 'one', '--config', config]);
  expect(command).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('one is a command, and only servers with a URL'),
  });
  const unknown = await home.run(['gateway', 'login', 'two', '--config', config]);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no server "two"') });
});
