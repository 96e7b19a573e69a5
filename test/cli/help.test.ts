// Help, versions, usage errors and pipes.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli, programs, useHome } from '../support/program.ts';

const home = useHome();
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));

test.each(['--help', '-h', 'help'])('mooring %s lists the commands', async (word) => {
  const { code, stdout, stderr } = await home.run([word]);
  expect(code).toBe(0);
  expect(stderr).toBe('');
  for (const command of ['serve', 'install', 'config', 'doctor', 'tools', 'call', 'audit']) {
    expect(stdout).toMatch(new RegExp(`^ {2}${command} +\\S`, 'm'));
  }
});

const commands = [
  ...[
    'serve',
    'dev',
    'new',
    'install',
    'uninstall',
    'list',
    'init',
    'config',
    'doctor',
    'tools',
    'call',
    'task',
    'resources',
    'read',
    'watch',
  ],
  ...['prompts', 'prompt', 'skills', 'inspect', 'console', 'ping', 'logout', 'token', 'policy', 'notes', 'audit'],
];

test.each(commands)('mooring %s --help fits into 120 columns', async (command) => {
  const { code, stdout } = await home.run([command, '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Usage: mooring ${command}`));
  expect(stdout.split('\n').filter((line) => line.length > 120)).toEqual([]);
});

test('help <command> is the same as <command> --help', async () => {
  expect((await home.run(['help', 'serve'])).stdout).toBe((await home.run(['serve', '--help'])).stdout);
});

test.each(['--version', '-v'])('mooring %s prints the version', async (word) => {
  expect(await home.run([word])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('the programs for single profiles print their version too', async () => {
  expect((await home.run(['--version'], { program: programs.clipboard })).stdout).toBe(`${version}\n`);
  expect((await home.run(['--version'], { program: programs.secureLocal })).stdout).toBe(`${version}\n`);
});

test.each([
  ['mcp-clipboardify', programs.clipboard, 'clipboard'],
  ['mcp-secure-local', programs.secureLocal, 'secure-local'],
])('%s has its own help, and serves only one profile', async (name, program, profile) => {
  const { code, stdout } = await home.run(['--help'], { program });
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Usage: ${name} \\[options\\]`));
  expect(stdout).toContain(`This is "mooring serve ${profile}"`);
  expect(stdout).not.toMatch(/\[profile\]|^Profiles|MOORING_PROFILE/m);
  const other = await home.run(['local'], { program });
  expect(other).toMatchObject({ code: 2, stdout: '' });
  expect(other.stderr).toContain(`${name} serves only the profile ${profile}`);
  const mistyped = await home.run(['--verison'], { program });
  expect(mistyped).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean --version?') });
});

test.each([
  [['serv'], /Unknown command "serv"; did you mean "serve"\?/],
  [['frobnicate'], /Unknown command "frobnicate"; "mooring --help" lists all commands/],
  [['serve', '--prot', '1'], /Unknown option --prot; did you mean --port\?\nSee "mooring serve --help"/],
  [['--verison'], /Unknown option --verison; did you mean --version\?\n/],
  [['--prot', '1'], /Unknown option --prot; did you mean --port\?\n/],
  [['serve', '--verison'], /Unknown option --verison; did you mean "mooring --version"\?\n/],
  [['tools', '--version'], /Unknown option --version; did you mean "mooring --version"\?\n/],
  [['call', 'local', 'x', '--version', '1'], /Unknown option --version. To pass an argument of that name, write --arg/],
  [['serve', 'nope'], /Unknown profile "nope"; choose one of /],
  [['serve', 'a', 'b'], /Name one profile at a time/],
  [['serve', '--port', 'many'], /--port must be a number from 0 to 65535, not "many"/],
  [['serve', '--enable', 'magic'], /--enable must be one of commands, workers, not "magic"/],
  [['serve', '--log-level', 'loud'], /--log-level must be one of debug, .*off, not "loud"/],
  [['serve', '--metrics', 'metrics'], /--metrics must start with a slash/],
  [['policy', 'check', '/nowhere/p.yaml'], /^mooring: \/nowhere\/p\.yaml cannot be read: there is no such file\n$/],
  [['serve', '--policy', '/nowhere/p.yaml'], /^mooring: \/nowhere\/p\.yaml cannot be read: there is no such file\n$/],
  [
    ['serve', 'server.ts'],
    /Unknown profile "server\.ts"; .*\nTo run a server of your own, use "mooring dev server\.ts"/,
  ],
  [
    ['tools', 'local', '--token', '@/nowhere/t'],
    /^mooring: --token: \/nowhere\/t cannot be read: there is no such file\n$/,
  ],
  [['call', 'local', 'x', '--args', '@/'], /^mooring: --args: \/ cannot be read: it is a folder\n$/],
  [['inspect', '--open', '/nowhere/r'], /^mooring: \/nowhere\/r cannot be opened: there is no such file\n$/],
  [['new', '/proc/my-server'], /\/proc\/my-server cannot be created: a folder cannot be created there\n$/],
  [['tools'], /Usage: mooring tools <server>/],
  [['call', 'everything'], /Usage: mooring call <server> <tool>/],
  [['install', 'curser'], /Unknown client "curser"; did you mean cursor\?/],
  [['tools', 'no-such-thing'], /Unknown server "no-such-thing"/],
])('%j is a usage error with a short message', async (args, message) => {
  const { code, stdout, stderr } = await home.run(args);
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('a pipe that is closed early is not an error', async () => {
  const script = `${JSON.stringify(process.execPath)} ${JSON.stringify(cli)} config schema | head -1; echo "code \${PIPESTATUS[0]}"`;
  const child = spawn('bash', ['-c', script], { env: home.env, cwd: home.folder });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  await new Promise((done) => child.once('close', done));
  expect(out).toBe('{\ncode 0\n');
  expect(err).toBe('');
});

test('there are no colours in a pipe, unless FORCE_COLOR is set', async () => {
  expect((await home.run(['--help'])).stdout).not.toContain('\u001b');
  expect((await home.run(['--help'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[');
});

test('the help of serve lists the default profile first, the others in alphabetical order', async () => {
  const { stdout } = await home.run(['serve', '--help']);
  const list = stdout.slice(stdout.indexOf('Profiles\n'), stdout.indexOf('Features'));
  const [first, ...others] = [...list.matchAll(/^ {2}([a-z-]+) /gm)].map((match) => match[1]);
  expect(first).toBe('local');
  expect(others.length).toBeGreaterThan(6);
  expect(others).toEqual(others.toSorted());
});

test('the help and the error of --log-level list the same levels', async () => {
  const { stdout } = await home.run(['serve', '--help']);
  const { stderr } = await home.run(['serve', '--log-level', 'loud']);
  const listed = /must be one of (.*), not/.exec(stderr)?.[1]?.split(', ') ?? [];
  expect(listed).toContain('critical');
  expect(stdout.replace(/\s+/g, ' ')).toContain(listed.join(', ').replace(/, off$/, ' or off'));
});
