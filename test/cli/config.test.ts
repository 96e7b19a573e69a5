// mooring init and mooring config: sources of settings, and the messages for invalid ones.

import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useHome } from '../support/program.ts';

const home = useHome();

const write = (text: string, mode = 0o600): string => {
  const file = home.file('mooring.json');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
};

/** The rows of the table by setting: from and value. */
async function settings(args: readonly string[], env: Record<string, string> = {}): Promise<Map<string, string>> {
  const { code, stdout, stderr } = await home.run(['config', ...args], { env });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return new Map(
    stdout
      .split('\n')
      .slice(3)
      .map((line) => line.split(/ {2,}/))
      .map(([key = '', from, value]) => [key, `${from}: ${value}`]),
  );
}

test.each([
  ['settings/mooring.json', 'settings/mooring.json'],
  ['../mooring.json', undefined],
])('init %s prints the path of the file relative to this folder', async (word, short) => {
  const { stdout } = await home.run(['init', word]);
  expect(stdout).toContain(`mooring serve --config ${short ?? `${home.path}/mooring.json`} `);
});

test('init creates a valid file with comments, and does not replace an existing one', async () => {
  const { code, stdout } = await home.run(['init']);
  expect(code).toBe(0);
  expect(stdout).toContain('mooring serve --config mooring.json');
  const file = home.file('mooring.json');
  expect(readFileSync(file, 'utf8')).toContain('// ');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await settings(['--config', 'mooring.json'])).get('profile')).toMatch(/^file, line \d+: local$/);
  const again = await home.run(['init']);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('Replace it with --force');
  expect((await home.run(['init', '--force'])).code).toBe(0);
});

test('every line that is commented out is a valid setting', async () => {
  const { stdout } = await home.run(['init', '--print']);
  const uncommented = stdout.replace(/^( *)\/\/ ("[\w$]+": .*)$/gm, '$1$2');
  expect(uncommented).toContain('\n  "plugins":');
  write(uncommented);
  const { code, stderr } = await home.run(['config', '--config', 'mooring.json'], {
    env: { MOORING_TOKEN: 't', REMOTE_TOKEN: 'r' },
  });
  expect(stderr).toBe('');
  expect(code).toBe(0);
});

test('later sources override earlier ones, and each value shows its source', async () => {
  write('{\n  // which\n  "profile": "reference",\n  "http": { "port": 1111, "host": "127.0.0.2", "path": "/x" },\n}');
  const table = await settings(['--config', 'mooring.json', '--port', '3333'], {
    MOORING_PORT: '2222',
    MOORING_HOST: '127.0.0.3',
  });
  expect(table.get('profile')).toBe('file, line 3: reference');
  expect(table.get('http.port')).toBe('flag --port: 3333');
  expect(table.get('http.host')).toBe('env MOORING_HOST: 127.0.0.3');
  expect(table.get('http.path')).toBe('file, line 4: /x');
  expect(table.get('http.enabled')).toBe('default: false');
  expect(table.get('data')).toBe(`default: ${home.path}/.local/share/mooring`);
});

test('the settings of a named profile are shown', async () => {
  const system = await settings(['system']);
  expect(system.get('profile')).toBe('flag: system');
  expect(system.get('audit.enabled')).toBe('default: true');
  const local = await settings([]);
  expect(local.get('audit.enabled')).toBe('default: false');
  expect(local.get('log.level')).toBe('default: info');
  expect((await home.run(['config', 'sistem'])).code).toBe(2);
});

test('settings as JSON, with secrets hidden', async () => {
  const { stdout } = await home.run(['config', '--json', '--token', 'x'.repeat(40)], {
    env: { MOORING_KEY: 'secret' },
  });
  const { file, settings: all } = JSON.parse(stdout);
  expect(file).toBeNull();
  expect(all['auth.tokens']).toEqual({ value: 'hidden', origin: { from: 'flag', where: '--token' } });
  expect(all['http.key'].value).toBe('hidden');
  expect(stdout).not.toContain('xxxx');
  write(
    JSON.stringify({
      packs: { search: { apiKey: 'k1', url: 'http://u/' } },
      plugins: [{ source: 'p', config: { password: 'k2' } }],
    }),
  );
  const packs = JSON.parse((await home.run(['config', '--json', '--config', 'mooring.json'])).stdout).settings;
  expect(packs.packs.value).toEqual({ search: { apiKey: 'hidden', url: 'http://u/' } });
  expect(packs.plugins.value).toEqual([{ source: 'p', config: { password: 'hidden' } }]);
});

test('credentials of an API are hidden', async () => {
  const credentials = { oauth: 'k1', key: 'k2' };
  write(JSON.stringify({ openapi: { document: 'a.json' }, packs: { openapi: { credentials, readOnly: true } } }));
  const env = { MOORING_OPENAPI_TOKEN: 'k3' };
  const { stdout } = await home.run(['config', '--json', '--config', 'mooring.json'], { env });
  const all = JSON.parse(stdout).settings;
  expect(all['openapi.document'].value).toBe(home.file('a.json'));
  expect(all['openapi.token'].value).toBe('hidden');
  expect(all.packs.value.openapi.readOnly).toBe(true);
  expect(stdout).not.toMatch(/"k\d"/);
});

test('the user configuration is read by default, a file in the working folder is not', async () => {
  await home.run(['init', '--user']);
  const own = join(home.path, '.config/mooring/mooring.json');
  expect(existsSync(own)).toBe(true);
  expect((await home.run(['config', 'path'])).stdout).toBe(`${own}\n`);
  write('{ "profile": "everything" }');
  const { stdout, stderr } = await home.run(['config']);
  expect(stdout).toMatch(/^profile +file, line \d+ +local$/m);
  expect(stderr).toContain('mooring.json in this folder is not used');
});

test('MOORING_CONFIG names a file; --config overrides it; a missing file is a usage error', async () => {
  write('{ "profile": "everything" }');
  writeFileSync(home.file('other.json'), '{ "profile": "system" }');
  const env = { MOORING_CONFIG: home.file('mooring.json') };
  expect((await settings([], env)).get('profile')).toBe('file, line 1: everything');
  expect((await settings(['--config', 'other.json'], env)).get('profile')).toBe('file, line 1: system');
  const { code, stderr } = await home.run(['config', '--config', 'nowhere.json']);
  expect(code).toBe(2);
  expect(stderr).toBe(
    `mooring: --config: the file ${home.file('nowhere.json')} does not exist. "mooring init" creates one\n`,
  );
});

test('all errors in a file are reported together, each with its line and how to fix it', async () => {
  const file = write(`{
  "prfile": "local",
  "http": { "port": "80", "hots": 1 },
  "auth": { "tokens": ["\${NOT_SET}"] },
  "plugins": [{ "grant": [] }],
  "roots": "here",
  "roots": ["there"]
}`);
  const { code, stderr } = await home.run(['config', '--config', 'mooring.json']);
  expect(code).toBe(2);
  expect(stderr.replaceAll(file, 'F').trim().split('\n')).toEqual([
    'mooring: F:2: prfile: is not known; did you mean "profile"?',
    'F:3: http.port: must be an integer, not a string',
    'F:3: http.hots: is not known; did you mean "host"?',
    `F:4: auth.tokens[0]: needs the environment variable NOT_SET, which is not set; set it, or write \${NOT_SET:-default}`,
    'F:5: plugins[0].source: is required',
    'F:7: roots: is given twice; remove one',
  ]);
});

test('a syntax error is located by line and column', async () => {
  const file = write('{\n  "profile": local\n}');
  const { stderr } = await home.run(['serve', '--config', 'mooring.json']);
  expect(stderr).toBe(`mooring: ${file}:2:14: "local" is not a JSON value; text needs double quotes\n`);
});

test('variables are expanded, with defaults and an escape, and paths are relative to the file', async () => {
  write(`{ "data": "\${DATA}/m", "roots": ["./a", "~/b", "\${NONE:-/c}"], "policy": "$\${x}" }`);
  const table = await settings(['--config', 'mooring.json'], { DATA: '/var' });
  expect(table.get('data')).toBe('file, line 1: /var/m');
  expect(table.get('roots')).toBe(`file, line 1: ${home.folder}/a, ${home.path}/b, /c`);
  expect(table.get('policy')).toBe(`file, line 1: ${home.folder}/\${x}`);
});

test('an unset variable of a named server does not stop this server', async () => {
  write(`{ "profile": "everything", "mcpServers": { "far": { "url": "https://x.example/\${FAR}" } } }`);
  expect((await home.run(['config', '--config', 'mooring.json'])).code).toBe(0);
  const { code, stderr } = await home.run(['tools', 'far', '--config', 'mooring.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('mooring.json:1: far: needs the environment variable FAR, which is not set; set it, ');
});

test('a file with secrets that other users can read is rejected, one without is not', async () => {
  const file = write('{ "auth": { "tokens": ["abc"] } }', 0o644);
  const { code, stderr } = await home.run(['config', '--config', 'mooring.json']);
  expect(code).toBe(2);
  expect(stderr).toContain(`the file contains secrets and other users can read it. Run: chmod 600 ${file}`);
  write('{ "mcpServers": { "a": { "url": "http://x/", "headers": { "Authorization": "Bearer y" } } } }', 0o644);
  expect((await home.run(['config', '--config', 'mooring.json'])).code).toBe(2);
  for (const api of ['"credentials": { "oauth": "y" }', '"headers": { "Authorization": "y" }']) {
    write(`{ "packs": { "openapi": { ${api} } } }`, 0o644);
    expect((await home.run(['config', '--config', 'mooring.json'])).code).toBe(2);
  }
  write(`{ "packs": { "openapi": { "credentials": { "a": "\${T}" }, "headers": { "X-V": "1" } } } }`, 0o644);
  expect((await home.run(['config', '--config', 'mooring.json'], { env: { T: 't' } })).code).toBe(0);
  write(`{ "auth": { "tokens": ["\${T}"] }, "profile": "local" }`, 0o644);
  expect((await home.run(['config', '--config', 'mooring.json'], { env: { T: 't' } })).code).toBe(0);
});

test('a file that all users can write is rejected', async () => {
  write('{ "profile": "local" }', 0o666);
  const { code, stderr } = await home.run(['config', '--config', 'mooring.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('other users can write to it and change what runs here; run: chmod go-w');
});

test('the published schema is the one the program prints', async () => {
  const { stdout } = await home.run(['config', 'schema']);
  const published = readFileSync(join(import.meta.dirname, '../../docs/schema/mooring.schema.json'), 'utf8');
  expect(JSON.parse(stdout)).toEqual(JSON.parse(published));
});

test('options of a pack that does not exist are an error, and the pack that was meant is suggested', async () => {
  writeFileSync(home.file('packs.json'), '{\n  "packs": { "clipbord": { "backend": "memory" } }\n}', { mode: 0o600 });
  const { code, stderr } = await home.run(['serve', '--config', 'packs.json']);
  expect([code, stderr]).toEqual([
    2,
    `mooring: ${home.file('packs.json')}:2: packs.clipbord: is not known; did you mean "clipboard"?\n`,
  ]);
});
