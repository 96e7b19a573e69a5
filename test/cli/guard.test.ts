// mooring token, policy, audit and doctor.

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useHome } from '../support/program.ts';

const home = useHome();
const tokens = (): string => `${home.path}/.local/share/mooring/tokens.json`;

test('a token is shown once; its hash is stored in a private file', async () => {
  const { code, stdout, stderr } = await home.run(['token', 'add', 'ada', '--scope', 'read', '--expires', '30d']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^mrg_[\w-]{43}\n$/);
  expect(stderr).toContain(`Start the server with: mooring serve --http --token-file ${tokens()}`);
  const kept = readFileSync(tokens(), 'utf8');
  expect(kept).not.toContain(stdout.trim());
  expect(JSON.parse(kept).tokens[0]).toMatchObject({
    id: 'ada',
    scopes: ['read'],
    hash: expect.stringMatching(/^sha256:/),
  });
  expect(statSync(tokens()).mode & 0o777).toBe(0o600);
});

test('tokens are listed and revoked', async () => {
  await home.run(['token', 'add', 'ada']);
  await home.run(['token', 'add', 'grace', '--expires', '2099-01-31']);
  const { stdout } = await home.run(['token', 'list']);
  expect(stdout).toMatch(/^ada +never +–$/m);
  expect(stdout).toMatch(/^grace +2099-01-31 +–$/m);
  expect(stdout).not.toContain('sha256');
  expect((await home.run(['token', 'add', 'ada'])).stderr).toContain('There is already a token for ada');
  expect((await home.run(['token', 'revoke', 'ada'])).code).toBe(0);
  expect(
    JSON.parse((await home.run(['token', 'list', '--json'])).stdout).map((each: { id: string }) => each.id),
  ).toEqual(['grace']);
  expect((await home.run(['token', 'revoke', 'ada'])).code).toBe(2);
});

test.each([
  [['add', 'a b'], /Name the caller: mooring token add NAME/],
  [['add', 'x', '--expires', 'soon'], /--expires is not a valid date/],
  [['add', 'x', '--expires', '2001-01-01'], /is in the past/],
  [['mint', 'x'], /Unknown action "mint"\. Use add, list or revoke/],
  [['mint'], /Unknown action "mint"\. Use add, list or revoke/],
])('mooring token %j is a usage error', async (args, message) => {
  const { code, stderr } = await home.run(['token', ...args]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test.each([
  ['below a file', 'file/tokens.json', 'a part of its path is not a folder'],
  ['with a name that is too long', 'a'.repeat(255), 'its name is too long'],
])('a token file %s is reported with the reason and a remedy', async (_where, name, reason) => {
  writeFileSync(join(home.path, 'file'), '');
  const file = join(home.path, name);
  const { code, stdout, stderr } = await home.run(['token', 'add', 'ada', '--file', file]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toBe(
    `mooring: ${file} cannot be written: ${reason}. Nothing was changed. Choose another file with --file, or check its folder\n`,
  );
});

test('token and policy commands print JSON', async () => {
  const json = async (...args: string[]) => JSON.parse((await home.run([...args, '--json'])).stdout);
  expect(await json('token')).toEqual({ token: expect.stringMatching(/^mrg_/) });
  await home.run(['token', 'add', 'ada']);
  expect(await json('token', 'revoke', 'ada')).toEqual({ id: 'ada', file: tokens() });
  writeFileSync(home.file('policy.yaml'), policy, { mode: 0o600 });
  expect(await json('policy', 'check', 'policy.yaml')).toEqual({ file: home.file('policy.yaml'), valid: true });
});

test.each(['verify', 'tail', 'query'])('audit %s reports a missing log', async (what) => {
  const { code, stderr } = await home.run(['audit', what, 'nothing.jsonl']);
  expect(code).toBe(2);
  expect(stderr).toContain(`There is no audit log ${home.file('nothing.jsonl')}`);
});

test('a folder stands for the audit log in it', async () => {
  await home.run(['serve', 'everything', '--data', 'data', '--audit', 'data/audit.jsonl']);
  await home.run(['serve', 'everything', '--audit', 'logs/calls.jsonl']);
  for (const args of [['data'], ['--data', 'data']]) {
    const { code, stdout } = await home.run(['audit', 'verify', ...args]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^✓ audit: \d+ lines, chain intact$/m)]);
  }
  expect((await home.run(['audit', 'tail', 'logs'])).stdout).toContain('close');
  await home.run(['serve', 'everything', '--audit', 'logs/other.jsonl']);
  const several = await home.run(['audit', 'verify', 'logs']);
  expect([several.code, several.stderr]).toEqual([
    2,
    `mooring: There are several logs in ${home.file('logs')}: calls.jsonl, other.jsonl. Name one of the files\n`,
  ]);
  const none = await home.run(['audit', 'verify', home.path]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('There is no audit log')]);
});

test('an outcome that does not exist is a usage error that lists those that do', async () => {
  await home.run(['serve', 'everything', '--audit', 'audit.jsonl']);
  const query = (outcome: string) => home.run(['audit', 'query', home.file('audit.jsonl'), '--outcome', outcome]);
  const { code, stderr } = await query('denied');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('no line has "denied". Outcomes are ok, failed, rejected'),
  ]);
  for (const known of ['cancelled', 'memory', 'can*'])
    expect(await query(known)).toMatchObject({ code: 0, stdout: '' });
});

test('a rejected token is reported with the flag to use', async () => {
  const good = (await home.run(['token'])).stdout.trim();
  const { url } = await home.serve(['everything'], { env: { MOORING_TOKEN: good } });
  const { code, stderr } = await home.run(['ping', url, '--token', 'mrg_another']);
  expect(code).toBe(1);
  expect(stderr).toBe(
    'mooring: The server requires authorization (HTTP 401, Unauthorized: the token is not known)\nPass a token that the server accepts: --token TOKEN, --token @FILE or --token env:NAME\n',
  );
});

const policy = `version: 1
rules:
  - name: readers
    effect: allow
    tools: ["get_*"]
  - effect: allow
    tools: [add_note]
    principals: [ada]
arguments:
  - tools: [add_note]
    argument: title
    maxLength: 5
scopes:
  - tools: [get_secret]
    scopes: [secrets]
limits:
  rate:
    - per: principal
      requests: 10
      window: 1m
`;

test.each([
  [['--tool', 'get_notes'], 0, /^get_notes: allowed$/m, /access +allow +rules\[0\] "readers"/],
  [['--tool', 'add_note'], 1, /^add_note: denied$/m, /access +deny +default +no rule matches/],
  [
    ['--tool', 'add_note', '--principal', 'ada', '--args', '{"title":"abc"}'],
    0,
    /allowed/,
    /10 in 60000 ms per principal/,
  ],
  [
    ['--tool', 'add_note', '--principal', 'ada', '--args', '{"title":"abcdef"}'],
    1,
    /denied/,
    /arguments +deny .*title/,
  ],
  [['--tool', 'get_secret'], 1, /needs a token with the scopes secrets/, /scopes +step-up/],
  [['--tool', 'get_secret', '--scope', 'secrets'], 0, /allowed/, /which the caller has/],
])('policy check %j shows the decision and the reason', async (args, exit, decision, reason) => {
  writeFileSync(home.file('policy.yaml'), policy, { mode: 0o600 });
  const { code, stdout } = await home.run(['policy', 'check', 'policy.yaml', ...args]);
  expect(stdout).toMatch(decision);
  expect(stdout).toMatch(reason);
  expect(code).toBe(exit);
});

test('policy check without a call validates the file', async () => {
  writeFileSync(home.file('policy.yaml'), policy, { mode: 0o600 });
  expect((await home.run(['policy', 'check', 'policy.yaml'])).stdout).toContain('is a valid policy');
  writeFileSync(home.file('wrong.yaml'), 'rules: 3\n', { mode: 0o600 });
  const wrong = await home.run(['policy', 'check', 'wrong.yaml']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/wrong\.yaml: .*version: is required; rules: must be an array/);
  expect(JSON.parse((await home.run(['policy', 'schema'])).stdout)).toHaveProperty('properties.rules');
});

test('doctor checks this machine and shows how to fix problems; missing optional parts are not a failure', async () => {
  const { code, stdout } = await home.run(['doctor', '--no-sandbox', '--port', '0']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}✓ Node\.js +v\d+/m);
  expect(stdout).toMatch(/^ {2}✓ SQLite /m);
  // Other platforms have a clipboard without a display.
  if (process.platform !== 'linux') return;
  expect(stdout).toMatch(/^ {2}– clipboard +No display environment available \[clipboard\]\n +→ /m);
  expect(stdout).toMatch(/\d+ ok, \d+ warnings?/);
});

test('doctor reports what is broken, with exit code 1', async () => {
  writeFileSync(home.file('data'), 'a file, not a folder');
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((ready) => taken.once('listening', ready));
  const { port } = taken.address() as { port: number };
  const config = { plugins: [{ source: './nowhere' }] };
  writeFileSync(home.file('mooring.json'), JSON.stringify(config), { mode: 0o600 });
  const args = [
    'doctor',
    '--no-sandbox',
    '--json',
    '--data',
    'data',
    '--port',
    String(port),
    '--config',
    'mooring.json',
  ];
  const { code, stdout } = await home.run(args);
  taken.close();
  expect(code).toBe(1);
  const findings = JSON.parse(stdout) as { name: string; severity: string; detail: string }[];
  const of = (name: string) => findings.find((each) => each.name === name);
  expect(of('data folder')).toMatchObject({ severity: 'error', detail: expect.stringContaining('is not a folder') });
  expect(of('plugins')).toMatchObject({ severity: 'error', detail: expect.stringContaining('does not exist') });
  expect(of('HTTP port')).toMatchObject({ severity: 'error', detail: `127.0.0.1:${port} is in use` });
});

test('doctor checks every layer of the sandbox', async () => {
  const { stdout } = await home.run(['doctor', '--json']);
  const layers = (JSON.parse(stdout) as { group: string; name: string }[]).filter(({ group }) => group === 'Sandbox');
  expect(layers.length).toBeGreaterThan(0);
});
