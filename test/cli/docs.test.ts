// The docs match the program, and the examples run.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { clients } from '../../src/app/clients/clients.ts';
import { options } from '../../src/app/config/options.ts';
import { profiles } from '../../src/app/profiles/index.ts';
import { cli, useHome } from '../support/program.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const home = useHome();

test.each(options)('configuration.md has a row for $key', ({ key, flag, env }) => {
  const row = read('docs/configuration.md')
    .split('\n')
    .find((line) => line.startsWith(`| \`${key}\` |`));
  expect(row, key).toBeDefined();
  if (flag !== undefined) expect(row).toContain(`\`--${flag}`);
  if (env !== undefined) expect(row).toContain(`\`${env}\``);
});

test('cli.md describes every command', async () => {
  const page = read('docs/cli.md');
  const { stdout } = await home.run(['--help']);
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) +\S/gm)].map((match) => match[1] as string);
  expect(commands.length).toBeGreaterThan(15);
  for (const command of commands) expect(page, command).toMatch(new RegExp(`mooring ${command}|\`${command}\``));
});

test('every profile and every pack has a page, and the page of a pack shows how to import it', () => {
  for (const name of Object.keys(profiles)) expect(read(`docs/profiles/${name}.md`)).toContain(`# Profile \`${name}\``);
  const packs = readdirSync(join(root, 'src/packs')).filter((name) =>
    existsSync(join(root, 'src/packs', name, 'index.ts')),
  );
  expect(packs.length).toBeGreaterThan(7);
  for (const name of packs) {
    const page = read(`docs/packs/${name}.md`);
    expect(page).toContain(`# Pack \`${name}\``);
    expect(page, name).toContain(`from 'mooring/packs/${name}'`);
  }
});

test('install.md lists every client and its files', () => {
  const page = read('docs/install.md');
  const at = { platform: 'linux', env: {}, home: '~' } as const;
  for (const [name, row] of Object.entries(clients)) {
    expect(page).toContain(`\`${name}\``);
    const project = row.file('project', at, '');
    if (project !== undefined) expect(page).toContain(`\`${project}\``);
  }
});

test('the plugin in the guide is the one in examples', () => {
  const page = read('docs/guide/plugin.md');
  const [manifest] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1] as string);
  const [module] = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1] as string);
  expect(JSON.parse(read('examples/plugins/greeter/mooring-plugin.json'))).toEqual(JSON.parse(manifest as string));
  expect(read('examples/plugins/greeter/index.js').replace(/^\/\/.*\n/, '')).toBe(module);
});

test.each([
  ['weather.mjs', 'forecast', ['--arg', 'city=Hamburg'], '{"celsius":12}\n'],
  ['booking.mjs', 'book', ['--arg', 'table=4', '--answer', 'guests=3'], /^Table 4 for 3, number \d{4}\.\n$/],
])('examples/%s runs', async (file, tool, words, answer) => {
  const target = `${process.execPath} ${join(root, 'examples', file)}`;
  const { stdout, stderr } = await home.run(['call', target, tool, ...words]);
  expect(stderr).toBe('');
  expect(stdout).toMatch(answer);
});

test('examples/client.mjs uses a server', async () => {
  const { stdout } = await home.run([], { program: join(root, 'examples/client.mjs'), cwd: root });
  expect(stdout).toMatch(/^weather uses \S+ over stdio\n- forecast: Forecast for a city\n\{ celsius: 12 \}\n$/);
});

test('examples/mooring.json serves with its plugin', async () => {
  const target = `${process.execPath} ${cli} serve --config ${join(root, 'examples/mooring.json')}`;
  const env = { TMPDIR: home.path };
  const args = ['call', target, 'greet', '--arg', 'name=Ada', '--env', `TMPDIR=${home.path}`];
  expect((await home.run(args, { env })).stdout).toBe('Ahoy, Ada! That was number 1.\n');
});

test('every example is tested', () => {
  expect(readdirSync(join(root, 'examples')).sort()).toEqual([
    'booking.mjs',
    'client.mjs',
    'deploy', // test/scale/deployment.test.ts
    'filesystem.mjs', // test/client/filesystem-example.test.ts
    'memory.mjs', // test/cli/memory-example.test.ts
    'mooring.json',
    'plugins',
    'policy.yaml',
    'weather.mjs',
  ]);
});
