// A server as a real child process under load that is meant to hurt: huge lines, and clients that do not read.

import { expect, test } from 'vitest';
import { Child, useStdioFixture } from '../support/stdio-child.ts';

useStdioFixture();

const mebi = 1024 * 1024;

test('requests are answered while 10 MiB of logs are written and stderr is not read', async () => {
  const child = new Child({}, { readStderr: false });
  const before = (await child.request('memory')) as number;
  for (let n = 0; n < 10; n++) expect(await child.request('log', { count: 1024, length: 1024 })).toBe('done');
  expect(await child.request('echo', { still: 'here' })).toEqual({ still: 'here' });
  expect(((await child.request('memory')) as number) - before).toBeLessThan(48 * mebi);
  // Read at last: what was kept comes, then how many were not.
  child.process.stderr?.setEncoding('utf8');
  let text = '';
  child.process.stderr?.on('data', (chunk: string) => (text += chunk));
  // They are reported whenever there was space again for a moment, so there may be several reports.
  const dropped = (): number =>
    [...text.matchAll(/(\d+) log messages were dropped/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  const kept = (): number => text.split('\n').filter((line) => line.includes(' n=')).length;
  await expect.poll(() => kept() + dropped()).toBe(10 * 1024);
  expect(dropped()).toBeGreaterThan(0);
  child.process.stdin?.end();
  expect(await child.exited).toBe(0);
});

test('an unread stderr does not prevent the process from exiting', async () => {
  const child = new Child({}, { readStderr: false });
  await child.request('log', { count: 1024, length: 1024 });
  child.process.stdin?.end();
  expect(await child.exited).toBe(0);
});

test('a line of 32 MiB is read and answered', async () => {
  const child = new Child();
  const text = 'x'.repeat(32 * mebi);
  const result = (await child.request('echo', { text })) as { text: string };
  expect(result.text.length).toBe(text.length);
});

test('a line beyond the limit is discarded in constant memory and answered with its id', async () => {
  const child = new Child();
  const before = (await child.request('memory')) as number;
  const piece = 'x'.repeat(mebi);
  child.write('{"jsonrpc":"2.0","id":77,"method":"echo","params":{"text":"');
  for (let n = 0; n < 200; n++) {
    if (!child.process.stdin?.write(piece)) await new Promise((resolve) => child.process.stdin?.once('drain', resolve));
  }
  child.write('"}}\n');
  expect((await child.answer(77)).error).toEqual({ code: -32600, message: `Message exceeds ${64 * mebi} bytes` });
  expect(((await child.request('memory')) as number) - before).toBeLessThan(200 * mebi);
});

test('a client that sends requests and never reads is no longer read from; it gets its responses when it reads', async () => {
  const child = new Child({}, { readStdout: false });
  const count = 2000;
  // Together 200 MB of answers, asked for at once.
  for (let n = 0; n < count; n++) child.send('big', { length: 100_000 });
  const id = child.send('memory');
  let lines = 0;
  let last = '';
  for await (const chunk of child.process.stdout!.setEncoding('utf8')) {
    const pieces = (chunk as string).split('\n');
    lines += pieces.length - 1;
    if (lines > count - 1) last += pieces.slice(-2).join('\n');
    if (lines === count + 1) break;
  }
  const rss = JSON.parse(last.slice(last.indexOf(`{"jsonrpc":"2.0","id":${id}`))).result as number;
  expect(rss).toBeLessThan(160 * mebi);
});
