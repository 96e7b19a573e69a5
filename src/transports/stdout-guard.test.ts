import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { guardStdout } from './stdout-guard.ts';

function guarded() {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  });
  const lines: string[] = [];
  const restore = guardStdout((line) => lines.push(line), stream);
  return { stream, lines, restore, written: () => written };
}

test('each printed line is logged, and none reaches the stream', () => {
  const { stream, lines, written } = guarded();
  new Console(stream).log('a %s\nb', 1);
  stream.write('in ');
  stream.write(Buffer.from('pieces\r\n'));
  stream.write('NjQ=', 'base64');
  stream.write('\n');
  expect(lines).toEqual(['a 1', 'b', 'in pieces', '64']);
  expect(written()).toBe('');
});

test('code that prints is called back as if it was written', async () => {
  const { stream, lines } = guarded();
  let called = 0;
  expect(stream.write('a\n', () => called++)).toBe(true);
  stream.write('b\n', 'utf8', () => called++);
  stream.end('c\n', () => called++);
  stream.end(() => called++);
  await nextTurn();
  expect([called, lines, stream.writableEnded]).toEqual([4, ['a', 'b', 'c'], false]);
});

test('output without a newline is not collected without limit', () => {
  const { stream, lines } = guarded();
  stream.write('x'.repeat(20_000));
  expect(lines.map((line) => line.length)).toEqual([8192, 8192]);
});

test('removing the guard logs the unfinished line and restores the stream', () => {
  const { stream, lines, restore, written } = guarded();
  stream.write('half');
  restore();
  stream.write('free');
  expect([lines, written()]).toEqual([['half'], 'free']);
});

test('a log that prints to the same stream does not recurse', () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  const seen: string[] = [];
  const restore = guardStdout((line) => {
    seen.push(line);
    stream.write('');
  }, stream);
  stream.write('once\n');
  restore();
  expect(seen).toEqual(['once']);
});
