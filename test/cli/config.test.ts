// mooring init and mooring config: where settings come from, and what is said about wrong ones.

import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useHome } from './program.ts';

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
])('init %s says how to name the file from here', async (word, short) => {
  const { stdout } = await home.run(['init', word]);
  expect(stdout).toContain(`mooring serve --config ${short ?? `${home.path}/mooring.json`} `);
});

test('init writes a commented file that can be used as it is, and does not replace one', async () => {
  const { code, stdout } = await home.run(['init']);
  expect(code).toBe(0);
  expect(stdout).toContain('mooring serve --config mooring.json');
  const file = home.file('mooring.json');
  expect(readFileSync(file, 'utf8')).toContain('// ');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await settings(['--config', 'mooring.json'])).get('profile')).toMatch(/^file, line \d+: local$/);
  const again = await home.run(['init']);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('--force replaces it');
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

test('the later source wins, and each value says where it comes from', async () => {
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

test('a profile may be named, and what holds for it is shown', async () => {
  const system = await settings(['system']);
  expect(system.get('profile')).toBe('flag: system');
  expect(system.get('audit.enabled')).toBe('default: true');
  const local = await settings([]);
  expect(local.get('audit.enabled')).toBe('default: false');
  expect(local.get('log.level')).toBe('default: info');
  expect((await home.run(['config', 'sistem'])).code).toBe(2);
});

test('the same for programs, with secrets hidden', async () => {
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

test("the user's own file is read without being named, one in the working folder is not", async () => {
  await home.run(['init', '--user']);
  const own = join(home.path, '.config/mooring/mooring.json');
  expect(existsSync(own)).toBe(true);
  expect((await home.run(['config', 'path'])).stdout).toBe(`${own}\n`);
  write('{ "profile": "everything" }');
  const { stdout, stderr } = await home.run(['config']);
  expect(stdout).toMatch(/^profile +file, line \d+ +local$/m);
  expect(stderr).toContain('mooring.json in this folder is not read unless it is named');
});

test('MOORING_CONFIG names a file; --config wins over it; one that is missing is a mistake', async () => {
  write('{ "profile": "everything" }');
  writeFileSync(home.file('other.json'), '{ "profile": "system" }');
  const env = { MOORING_CONFIG: home.file('mooring.json') };
  expect((await settings([], env)).get('profile')).toBe('file, line 1: everything');
  expect((await settings(['--config', 'other.json'], env)).get('profile')).toBe('file, line 1: system');
  const { code, stderr } = await home.run(['config', '--config', 'nowhere.json']);
  expect(code).toBe(2);
  expect(stderr).toBe(`mooring: --config: there is no file ${home.file('nowhere.json')}; "mooring init" writes one\n`);
});

test('every mistake in a file is told at once, with line, place and remedy', async () => {
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
    `F:4: auth.tokens[0]: needs the variable NOT_SET, which is not set; set it, or write \${NOT_SET:-default}`,
    'F:5: plugins[0].source: is required',
    'F:7: roots: is given twice; keep one',
  ]);
});

test('a file that is no JSON is pointed at', async () => {
  const file = write('{\n  "profile": local\n}');
  const { stderr } = await home.run(['serve', '--config', 'mooring.json']);
  expect(stderr).toBe(`mooring: ${file}:2:14: "local" is no JSON value; text needs double quotes\n`);
});

test('variables are expanded, with defaults and an escape, and paths are those of the file', async () => {
  write(`{ "data": "\${DATA}/m", "roots": ["./a", "~/b", "\${NONE:-/c}"], "policy": "$\${x}" }`);
  const table = await settings(['--config', 'mooring.json'], { DATA: '/var' });
  expect(table.get('data')).toBe('file, line 1: /var/m');
  expect(table.get('roots')).toBe(`file, line 1: ${home.folder}/a, ${home.path}/b, /c`);
  expect(table.get('policy')).toBe(`file, line 1: ${home.folder}/\${x}`);
});

test('a variable that only a named server needs does not keep us from serving', async () => {
  write(`{ "profile": "everything", "mcpServers": { "far": { "url": "https://x.example/\${FAR}" } } }`);
  expect((await home.run(['config', '--config', 'mooring.json'])).code).toBe(0);
  const { code, stderr } = await home.run(['tools', 'far', '--config', 'mooring.json']);
  expect(code).toBe(2);
  expect(stderr).toBe('mooring: The server far needs the variable FAR, which is not set (url)\n');
});

test('a file with secrets that others may read is refused, one without is not', async () => {
  const file = write('{ "auth": { "tokens": ["abc"] } }', 0o644);
  const { code, stderr } = await home.run(['config', '--config', 'mooring.json']);
  expect(code).toBe(2);
  expect(stderr).toContain(`holds secrets and others may read it; run: chmod 600 ${file}`);
  write('{ "mcpServers": { "a": { "url": "http://x/", "headers": { "Authorization": "Bearer y" } } } }', 0o644);
  expect((await home.run(['config', '--config', 'mooring.json'])).code).toBe(2);
  write(`{ "auth": { "tokens": ["\${T}"] }, "profile": "local" }`, 0o644);
  expect((await home.run(['config', '--config', 'mooring.json'], { env: { T: 't' } })).code).toBe(0);
});

test('a file that everybody may write decides nothing here', async () => {
  write('{ "profile": "local" }', 0o666);
  const { code, stderr } = await home.run(['config', '--config', 'mooring.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('others may write it, and so decide what runs here; run: chmod go-w');
});

test('the published schema is the one the program has', async () => {
  const { stdout } = await home.run(['config', 'schema']);
  const published = readFileSync(join(import.meta.dirname, '../../docs/schema/mooring.schema.json'), 'utf8');
  expect(JSON.parse(stdout)).toEqual(JSON.parse(published));
});
