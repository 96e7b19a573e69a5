import { expect, test } from 'vitest';
import { UsageError } from '../usage-error.ts';
import { options } from './options.ts';
import { resolveSettings, type SettingsInput } from './resolve.ts';
import { configSchema } from './schema.ts';

const platform = { platform: 'linux', env: {}, home: '/nowhere/h' } as const;
const asked = (more: Partial<SettingsInput> = {}): SettingsInput => ({
  env: {},
  cwd: '/w',
  platform,
  ...more,
});

test('the defaults are safe: stdio, loopback, no files, no commands', async () => {
  const { settings, file } = await resolveSettings(asked());
  expect(file).toBeUndefined();
  expect(settings).toMatchObject({
    profile: 'local',
    dataDir: '/nowhere/h/.local/share/mooring',
    roots: [],
    write: false,
    allowedCommands: undefined,
    enable: { commands: false, workers: false },
    audit: { file: '/nowhere/h/.local/share/mooring/audit.jsonl', fsync: 'interval' },
    plugins: [],
    http: { enabled: false, host: '127.0.0.1', port: 8000, path: '/mcp', unsafeNoAuth: false },
    auth: undefined,
  });
});

test('paths in flags are relative to the working folder, and the audit log follows the data folder', async () => {
  const { settings } = await resolveSettings(asked({ flags: { root: ['a', '/b', '~/c'], data: ['d'] } }));
  expect(settings.roots).toEqual(['/w/a', '/b', '/nowhere/h/c']);
  expect(settings.audit?.file).toBe('/w/d/audit.jsonl');
});

test.each([
  ['calls', '/w/calls.jsonl'],
  ['/var/log/calls.log', '/var/log/calls.log.jsonl'],
  ['calls.json', '/w/calls.jsonl'],
  ['calls.jsonl', '/w/calls.jsonl'],
])('the audit log %s is the file %s', async (audit, file) => {
  const { settings, values } = await resolveSettings(asked({ flags: { audit: [audit] } }));
  expect(settings.audit?.file).toBe(file);
  expect(values.get('audit.file')).toMatchObject({ value: file, origin: { where: '--audit' } });
});

test('naming a program enables commands', async () => {
  const { settings } = await resolveSettings(asked({ flags: { 'allow-command': ['ls', 'cat'] } }));
  expect(settings).toMatchObject({ allowedCommands: ['ls', 'cat'], enable: { commands: true, workers: false } });
});

test('lists in variables are separated by commas, and empty variables are ignored', async () => {
  const { settings } = await resolveSettings(
    asked({ env: { MOORING_TOKEN: 'a, b', MOORING_PORT: '', MOORING_HTTP: 'yes' } }),
  );
  expect(settings.auth?.tokens).toEqual(['a', 'b']);
  expect(settings.http).toMatchObject({ port: 8000, enabled: true });
});

test.each([
  [{ flags: { port: ['65536'] } }, '--port must be a number from 0 to 65535, not "65536"'],
  [{ flags: { path: ['mcp'] } }, '--path must start with a slash'],
  [{ flags: { metrics: ['metrics'] } }, '--metrics must start with a slash and have no query, as in /metrics'],
  [{ flags: { 'log-level': ['loud'] } }, '--log-level must be one of debug, info, notice, warning, '],
  [{ flags: { 'public-url': ['nope'] } }, '--public-url: "nope" is not a URL; write the address that clients use'],
  [{ env: { MOORING_PUBLIC_URL: 'localhost:80' } }, 'MOORING_PUBLIC_URL: "localhost:80" is not a URL'],
  [{ flags: { 'allow-origin': ['https://a', 'b'] } }, '--allow-origin: "b" is not an origin; write only scheme,'],
  [{ flags: { 'allow-host': ['http://x'] } }, '--allow-host: "http://x" is not a host name; write only the name'],
  [{ flags: { 'auth-issuer': ['nope'] } }, '--auth-issuer: "nope" is not a URL; write it with its scheme'],
  [
    { flags: { 'server-card': ['notes'] } },
    '--server-card: "notes" is not a reverse-DNS name; write a domain of yours',
  ],
  [{ flags: { 'server-card': ['com.example/notes'] } }, 'Add --server-card-description TEXT'],
  [{ flags: { 'server-card-description': ['x'] } }, '--server-card-description has no effect without a name. Set'],
  [
    { flags: { 'server-card': ['com.example/notes'], 'server-card-description': ['x'.repeat(101)] } },
    '--server-card-description: must have 1 to 100 characters, and has 101',
  ],
  [{ flags: { root: [''] } }, '--root must not be empty'],
  [{ env: { MOORING_HTTP: 'perhaps' } }, 'MOORING_HTTP must be true or false, not "perhaps"'],
  [{ configFile: '/nowhere/x.json' }, '--config: the file /nowhere/x.json does not exist'],
  [{ env: { MOORING_CONFIG: '/nowhere/y.json' } }, 'MOORING_CONFIG: the file /nowhere/y.json does not exist'],
] as [Partial<SettingsInput>, string][])('%j is a usage error', async (more, message) => {
  const settling = resolveSettings(asked(more));
  await expect(settling).rejects.toThrow(UsageError);
  await expect(settling).rejects.toThrow(message);
});

test('an invalid log setting does not stop the server', async () => {
  const { logLevel, logJson } = await resolveSettings(
    asked({ env: { MCP_LOG_LEVEL: 'chatty', MCP_LOG_JSON: 'perhaps' } }),
  );
  expect(logLevel).toBe('chatty');
  expect(logJson).toBeUndefined();
});

test.each([
  ['local', {}, false],
  ['local', { enable: ['commands'] }, true],
  ['local', { audit: ['a.jsonl'] }, true],
  ['everything', {}, false],
  ['system', {}, true],
  ['orchestrator', {}, true],
] as [string, Record<string, string[]>, boolean][])(
  'profile %s with flags %j: audit.enabled is %s',
  async (profile, flags, kept) => {
    const { values } = await resolveSettings(asked({ profile, flags }));
    expect(values.get('audit.enabled')?.value).toBe(kept);
  },
);

test('the default log level is shown, and left to the logger', async () => {
  const { values, logLevel } = await resolveSettings(asked());
  expect(values.get('log.level')).toEqual({ value: 'info', origin: { from: 'default' } });
  expect(logLevel).toBeUndefined();
  expect((await resolveSettings(asked({ flags: { 'log-level': ['WARN'] } }))).logLevel).toBe('WARN');
});

test('every option is in the schema, and no two share a flag or a variable', () => {
  const schema = configSchema();
  for (const { key } of options) {
    const found = key
      .split('.')
      .reduce<unknown>((each, step) => (each as { properties?: Record<string, unknown> })?.properties?.[step], schema);
    expect(found, key).toHaveProperty('description');
  }
  for (const field of ['flag', 'env', 'key'] as const) {
    const all = options.flatMap((option) => option[field] ?? []);
    expect(new Set(all).size).toBe(all.length);
  }
});
