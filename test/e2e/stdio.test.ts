// A server as a real child process: how it ends, and that nothing but the protocol is on its stdout.

import { type ChildProcessByStdio, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { Child, fixturePath, start, useStdioFixture } from '../support/stdio-child.ts';

useStdioFixture();

test('S0-2 S3-1: requests on stdin are answered on stdout, one line each', async () => {
  const child = new Child();
  expect(await child.request('echo', { text: 'zażółć 😀' })).toEqual({ text: 'zażółć 😀' });
});

test('S0-45 S0-47: the end of stdin lets open calls finish and exits with 0, though a timer is still set', async () => {
  const child = new Child();
  const id = child.send('later', { ms: 100 });
  child.process.stdin?.end();
  expect(await child.exited).toBe(0);
  expect((await child.answer(id)).result).toBe('later');
});

test('a whole session may be piped in at once', async () => {
  const child = new Child();
  for (let n = 0; n < 1000; n++) child.send('echo', { n });
  child.process.stdin?.end('{"jsonrpc":"2.0","id":"last","method":"echo"}');
  expect(await child.exited).toBe(0);
  await child.until(() => child.messages.length === 1001);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`S0-46 S3-30: ${signal} lets open calls finish, is logged on stderr, and exits with 0`, async () => {
    const child = new Child();
    await child.request('echo');
    const id = child.send('later', { ms: 100 });
    await child.request('echo');
    child.process.kill(signal);
    expect(await child.exited).toBe(0);
    expect((await child.answer(id)).result).toBe('later');
    expect(child.stderr).toContain(`${signal}: stopping`);
  });
}

test('a second signal exits immediately with the code of the signal', async () => {
  const child = new Child({ GRACE_MS: '60000' });
  child.send('never');
  await child.request('echo');
  child.process.kill('SIGTERM');
  await child.until(() => child.stderr.includes('stopping'));
  child.process.kill('SIGTERM');
  expect(await child.exited).toBe(143);
});

test('SIGHUP comes twice when a terminal is closed; the second one does not end the grace period', async () => {
  const child = new Child({ GRACE_MS: '60000' });
  child.send('never');
  await child.request('echo');
  child.process.kill('SIGHUP');
  await child.until(() => child.stderr.includes('stopping'));
  child.process.kill('SIGHUP');
  child.process.kill('SIGTERM');
  expect(await child.exited).toBe(143);
});

test('a signal after the end of stdin shortens the grace period, and the exit code is still 0', async () => {
  const child = new Child({ GRACE_MS: '60000' });
  child.send('never');
  await child.request('echo');
  child.process.stdin?.end();
  child.process.kill('SIGTERM');
  expect(await child.exited).toBe(0);
});

test('calls that do not finish within the grace period do not keep the process alive', async () => {
  const child = new Child({ GRACE_MS: '50' });
  child.send('never');
  await child.request('echo');
  child.process.stdin?.end();
  expect(await child.exited).toBe(0);
});

test('S0-43 S3-2 S3-35: what other code prints to stdout is logged on stderr instead', async () => {
  const child = new Child();
  expect(await child.request('print')).toBe('done');
  expect(await child.request('end-stdout')).toBe('done');
  expect(await child.request('echo')).toEqual({});
  child.process.stdin?.end();
  expect(await child.exited).toBe(0);
  expect(child.messages).toHaveLength(3);
  expect(child.stderr).toContain('printed by console.log');
  expect(child.stderr).toContain('printed {"jsonrpc":"2.0"}');
  expect(child.stderr).toContain('printed bytes without a newline');
  expect(child.stderr).toContain('last words');
});

test('S0-30: lines that are not messages are answered, and the server keeps running', async () => {
  const child = new Child();
  child.write('not json\n\n\r\n');
  expect((await child.answer(null)).error?.code).toBe(-32700);
  child.process.stdin?.write(Buffer.from([0xff, 0xfe, 0x0a]));
  await child.until(() => child.messages.length === 2);
  expect(child.messages[1]?.error?.code).toBe(-32700);
  expect(await child.request('echo')).toEqual({});
});

test('S3-32: a handler that throws does not end the process', async () => {
  const child = new Child();
  child.send('throw');
  expect(await child.request('echo')).toEqual({});
  await child.until(() => child.stderr.includes('a handler that throws'));
});

for (const method of ['reject', 'throw-later']) {
  test(`S3-31: an uncaught error (${method}) is logged, and the exit code is 1`, async () => {
    const child = new Child();
    expect(await child.request(method)).toBe('done');
    expect(await child.exited).toBe(1);
    await child.until(() => child.stderr.includes('this is not caught'));
  });
}

test('the server exits when the client closes stdout, though stdin is still open', async () => {
  const child = new Child();
  await child.request('echo');
  child.process.stdout?.destroy();
  child.send('echo');
  child.send('later', { ms: 10 });
  expect(await child.exited).toBe(0);
});

test('the server exits when its parent ends, though stdin is still open', async () => {
  // As when a client kills npx, whose child we are: the pipes are the client's and stay open.
  const pipe = join(dirname(fixturePath()), 'stdin');
  execFileSync('mkfifo', [pipe]);
  const stdin = openSync(pipe, 'r+');
  writeSync(stdin, '{"jsonrpc":"2.0","id":1,"method":"parent"}\n');
  const env = { ...process.env, PARENT_POLL_MS: '50' };
  const script = 'exec 3<&0; "$0" "$1" <&3 & wait';
  const shell = start('sh', ['-c', script, process.execPath, fixturePath()], { env, stdio: [stdin, 'pipe', 'pipe'] });
  const { stdout, stderr } = shell as ChildProcessByStdio<null, Readable, Readable>;
  let log = '';
  stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const [answer] = (await once(stdout.setEncoding('utf8'), 'data')) as [string];
  expect(JSON.parse(answer).result[1]).toBe(shell.pid);
  const ended = Promise.all([once(stdout.resume(), 'end'), once(stderr, 'end')]);
  shell.kill('SIGKILL');
  await ended;
  closeSync(stdin);
  expect(log).toContain('the parent process has ended');
});

test('a client that closes stderr is still served, whatever code prints there', async () => {
  const child = new Child({ MCP_LOG_LEVEL: 'off' }, { readStderr: false });
  child.process.stderr?.destroy();
  for (const method of ['echo', 'echo', 'print-stderr', 'print-stderr', 'echo']) await child.request(method);
  child.process.stdin?.end();
  expect(await child.exited).toBe(0);
});

test('many requests that arrive before calls can be run wait for that, unless loading fails', async () => {
  for (const fails of [false, true]) {
    const child = new Child({ PREPARE_MS: '50', ...(fails ? { PREPARE_FAILS: '1' } : {}) });
    for (let n = 0; n < 10_000; n++) child.send('prepared');
    child.process.stdin?.end();
    expect(await child.exited).toBe(0);
    await child.until(() => child.messages.length === 10_000);
    const early = child.messages.filter(({ result }) => result === false).length;
    if (fails) expect(early).toBe(10_000);
    else expect(early).toBeLessThan(2048);
  }
});
