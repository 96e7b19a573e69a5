// The command-line client in pipes and scripts: tables, JSON, arguments, exit codes.

import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { cli, useHome, useServer } from '../support/program.ts';

const home = useHome();
const url = useServer(['everything']);

test('a server is a profile, a URL, a command line, or a name in a configuration', async () => {
  writeFileSync(
    home.file('.mcp.json'),
    JSON.stringify({ mcpServers: { mine: { command: process.execPath, args: [cli, 'serve', 'everything'] } } }),
  );
  const ours = { $schema: 'x/mooring.schema.json', mcpServers: { far: { url: url() } } };
  writeFileSync(home.file('mooring.json'), JSON.stringify(ours), { mode: 0o600 });
  writeFileSync(home.file('gemini.json'), JSON.stringify({ mcpServers: { g: { httpUrl: url() } } }));
  writeFileSync(home.file('config.toml'), `[mcp_servers.t]\nurl = "${url()}"\n`);
  writeFileSync(home.file('opencode.json'), JSON.stringify({ mcp: { o: { type: 'remote', url: url() } } }));
  writeFileSync(home.file('vscode.json'), JSON.stringify({ servers: { v: { type: 'http', url: url() } } }));
  const names: [string, ...string[]][] = [
    ['everything'],
    [url()],
    [url().replace('http', 'ws')],
    [`${process.execPath} ${cli} serve everything`],
    ['mine', '--config', '.mcp.json'],
    ['far', '--config', 'mooring.json'],
    ['g', '--config', 'gemini.json'],
    ['v', '--config', 'vscode.json'],
    ['t', '--config', 'config.toml'],
    ['o', '--config', 'opencode.json'],
  ];
  for (const target of names) {
    const { code, stdout, stderr } = await home.run(['call', ...target, 'test_simple_text']);
    expect(`${code} ${stdout}${stderr}`, target.join(' ')).toBe('0 This is a simple text response for testing.\n');
  }
});

test('ping shows the name, the revision and the response times', async () => {
  const { code, stdout } = await home.run(['ping', url(), '-n', '2']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^server +mooring-everything \d/m);
  expect(stdout).toMatch(/^revision +2026-07-28$/m);
  expect(stdout).toMatch(/^transport +http$/m);
  expect(stdout).toMatch(/^pings +[\d.]+, [\d.]+ ms$/m);
  const older = JSON.parse((await home.run(['ping', url(), '--revision', '2025-03-26', '--json'])).stdout);
  expect(older).toMatchObject({ revision: '2025-03-26', server: { name: 'mooring-everything' } });
});

test('tools are listed, described, and printed as JSON', async () => {
  const list = await home.run(['tools', url()]);
  expect(list.stdout).toMatch(/^test_simple_text +Returns one text block$/m);
  expect(list.stdout).toMatch(/^ +ms\?: integer 0…60000$/m);
  const one = await home.run(['tools', url(), 'test_slow']);
  expect(one.stdout).toMatch(/^ {2}ms {2}integer 0…60000, optional/m);
  const all = JSON.parse((await home.run(['tools', url(), '--json'])).stdout);
  expect(all).toContainEqual(expect.objectContaining({ name: 'test_slow', inputSchema: expect.any(Object) }));
  const wrong = await home.run(['tools', url(), 'test_slwo']);
  expect(wrong).toMatchObject({ code: 2, stderr: 'mooring: There is no tool "test_slwo"; did you mean test_slow?\n' });
});

test('resources and prompts are listed', async () => {
  const resources = await home.run(['resources', url()]);
  expect(resources.stdout).toMatch(/^test:\/\/static-text +text\/plain +A static text/m);
  expect(resources.stdout).toMatch(/^test:\/\/template\/\{id\}\/data +application\/json \(template\)/m);
  const prompts = await home.run(['prompts', url()]);
  expect(prompts.stdout).toMatch(/^test_prompt_with_arguments +arg1, arg2 +A prompt with two arguments$/m);
  expect(JSON.parse((await home.run(['prompts', url(), '--json'])).stdout).length).toBeGreaterThan(3);
});

test('the exit code is 1 for a tool error and a failed call, and 2 for a usage error', async () => {
  const reported = await home.run(['call', url(), 'test_error_handling']);
  expect(reported.code).toBe(1);
  expect(reported.stdout).toBe('This tool intentionally returns an error for testing\n');
  expect(reported.stderr).toBe('mooring: the tool reported an error\n');
  const failed = await home.run(['call', 'http://127.0.0.1:9/mcp', 'x']);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toMatch(/^mooring: Could not reach "http:\/\/127\.0\.0\.1:9\/mcp"/);
  const exits = await home.run(['tools', `${process.execPath} -e 'process.exit(3)'`]);
  expect(exits.code).toBe(1);
  expect(exits.stderr).toContain('exited');
  expect((await home.run(['call', url(), 'test_simple_text', '--arg', 'nonsense'])).code).toBe(2);
});

test('arguments are converted to the types of the schema', async () => {
  const calculate = (...words: string[]) =>
    home.run(['call', 'reference', 'calculate', ...words.flatMap((word) => ['--arg', word])]);
  const good = await calculate('operation=multiply', 'a=6', 'b=7');
  expect(good.stderr.replace(/^.*Server running.*\n/m, '')).toBe('');
  expect(good.stdout).toContain('42');
  const bad = await calculate('operation=multiply', 'a=six', 'b=7');
  expect(bad).toMatchObject({ code: 2, stderr: 'mooring: a must be a number, not "six"\n' });
  const missing = await calculate('a=6');
  expect(missing.code).toBe(2);
  expect(missing.stderr).toMatch(/^mooring: calculate requires more arguments:\n {2}--arg operation=…/);
  const json = await home.run(['call', 'reference', 'calculate', '--args', '-'], {
    input: '{"operation":"add","a":1,"b":2}',
  });
  expect(json.stdout).toContain('3');
});

test('images are saved to files', async () => {
  const { stdout } = await home.run(['call', url(), 'test_image_content', '--save', 'pictures']);
  const file = /→ (.+)$/m.exec(stdout)?.[1] as string;
  expect(file).toBe(home.file('pictures/1.png'));
  expect(readFileSync(file).subarray(1, 4).toString()).toBe('PNG');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await home.run(['call', url(), 'test_image_content', '--save', 'pictures']);
  expect(existsSync(home.file('pictures/2.png'))).toBe(true);
});

test('--json prints the whole result', async () => {
  const { stdout } = await home.run(['call', url(), 'test_structured_object', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: 'text' }], structuredContent: expect.any(Object) });
});

test('the contents of resources are printed unchanged', async () => {
  expect((await home.run(['read', url(), 'test://static-text'])).stdout).toBe(
    'This is the content of the static text resource.',
  );
  const written = await home.run(['read', url(), 'test://static-binary', '-o', 'b.png']);
  expect(written.stderr).toMatch(/bytes written to b\.png/);
  expect(readFileSync(home.file('b.png')).subarray(1, 4).toString()).toBe('PNG');
  const missing = await home.run(['read', url(), 'test://nope']);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no resource "test://nope"') });
});

test('a prompt is printed as messages', async () => {
  const { stdout } = await home.run([
    'prompt',
    url(),
    'test_prompt_with_arguments',
    '--arg',
    'arg1=a',
    '--arg',
    'arg2=b',
  ]);
  expect(stdout).toBe("user:\nPrompt with arguments: arg1='a', arg2='b'\n");
});

test.each(['2025-11-25', '2026-07-28'])('changes are printed as they happen, on %s', async (revision) => {
  const child = home.start(['watch', url(), 'test://watched-resource', '--revision', revision, '-n', '1', '--json']);
  let [said, out] = ['', ''];
  child.stderr?.on('data', (chunk) => (said += chunk));
  child.stdout?.on('data', (chunk) => (out += chunk));
  await expect.poll(() => said).toContain('waiting for changes of: test://watched-resource');
  const client = await connect(url());
  await client.callTool('test_trigger_resource_update');
  await client.close();
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(JSON.parse(out)).toMatchObject({ kind: 'resource', uri: 'test://watched-resource' });
});

test('without a terminal, input requests are answered from the command line, or not at all', async () => {
  const call = ['call', url(), 'test_elicitation', '--arg', 'message=Who?'];
  const answered = await home.run([...call, '--answer', 'username=ada', '--answer', 'email=ada@example.org']);
  expect(answered.stdout).toContain('{"username":"ada","email":"ada@example.org"}');
  const mistyped = await home.run([...call, '--answer', 'usrname=ada', '--answer', 'email=ada@example.org']);
  expect(mistyped.stderr).toContain('--answer is missing for username. This form asks for');
  expect(mistyped.stderr).toContain(', not for usrname\n');
  const wrong = await home.run(['call', url(), 'test_elicitation_sep1330_enums', '--answer', 'legacyEnum=opt9']);
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/must be one of .*\. Write, for example, --answer legacyEnum=opt1\n$/),
  });
  const unanswered = await home.run(call);
  expect(unanswered.code).toBe(1);
  expect(unanswered.stderr).toContain('Run the command in a terminal, or answer with --answer name=value');
});

test('-v shows the log messages of the server, and the stderr of a started one', async () => {
  for (const revision of ['2025-06-18', '2026-07-28']) {
    const { stderr } = await home.run(['call', 'everything', 'test_tool_with_logging', '-v', '--revision', revision]);
    expect(stderr).toContain(`revision ${revision} · stdio`);
    expect(stderr).toMatch(/^mooring-everything \S+ · /m);
    expect(stderr).toMatch(/\[info/);
    expect(stderr).toContain('Server running');
    const overHttp = await home.run(['call', url(), 'test_tool_with_logging', '-v', '--revision', revision]);
    expect(overHttp.stderr).toMatch(/\[info/);
  }
});

test('Ctrl-C ends a call with 130 and leaves no server behind', async () => {
  const child = home.start([
    'call',
    `${process.execPath} ${cli} serve everything`,
    'test_slow',
    '--arg',
    'ms=60000',
    '-v',
  ]);
  let said = '';
  child.stderr?.on('data', (chunk) => (said += chunk));
  await expect.poll(() => said).toContain('revision');
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([130, null]);
});

test('a token is sent to a server that requires one', async () => {
  const token = (await home.run(['token'])).stdout.trim();
  const { url: guarded } = await home.serve(['everything'], { env: { MOORING_TOKEN: token } });
  expect((await home.run(['ping', guarded, '--token', token])).code).toBe(0);
  expect((await home.run(['ping', guarded, '--token', 'env:T'], { env: { T: token } })).code).toBe(0);
  expect((await home.run(['ping', guarded, '--header', `Authorization: Bearer ${token}`])).code).toBe(0);
  const rejected = await home.run(['ping', guarded]);
  expect(rejected.code).toBe(1);
  expect(rejected.stderr).toContain('--token TOKEN');
  // MOORING_TOKEN is for our own server and is not sent to others.
  expect((await home.run(['ping', guarded], { env: { MOORING_TOKEN: token } })).code).toBe(1);
});

test('plain http in the local network works with a warning, and gets a token only if that is allowed', async () => {
  const { url: served } = await home.serve(['everything', '--allow-host', '0.0.0.0']);
  // 0.0.0.0 is not a loopback address by its text, and leads to this machine.
  const local = served.replace('127.0.0.1', '0.0.0.0');
  const open = await home.run(['call', local, 'test_simple_text']);
  expect(open.stdout).toBe('This is a simple text response for testing.\n');
  expect(open.stderr).toMatch(/^warning: the connection to 0\.0\.0\.0:\d+ is not encrypted/);
  const token = await home.run(['call', local, 'test_simple_text', '--token', 'secret']);
  expect([token.code, token.stderr]).toEqual([2, expect.stringContaining('add --insecure-http')]);
  writeFileSync(
    home.file('.mcp.json'),
    JSON.stringify({ mcpServers: { nas: { url: local, headers: { authorization: 'Bearer secret' } } } }),
  );
  expect((await home.run(['ping', 'nas', '--config', '.mcp.json'])).code).toBe(2);
  expect((await home.run(['ping', 'nas', '--config', '.mcp.json', '--insecure-http'])).code).toBe(0);
});

test('plain http to a public address is an error that says what to do', async () => {
  const { code, stderr } = await home.run(['ping', 'http://192.0.2.1/mcp']);
  expect(code).toBe(1);
  expect(stderr).toContain('plain http is allowed on loopback only\nUse https.');
});
