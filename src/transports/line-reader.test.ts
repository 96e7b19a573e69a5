import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { LineReader, type LineRejection } from './line-reader.ts';
import type { RejectedLineId } from './rejected-line-id.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Event = { line: string } | { rejected: LineRejection; found: RejectedLineId } | 'end';

function collect(chunks: Iterable<Uint8Array | string>, maxBytes?: number, end = true): Event[] {
  const events: Event[] = [];
  const reader = new LineReader(
    {
      onLine: (line) => events.push({ line }),
      onRejected: (rejected, found) => events.push({ rejected, found }),
      onEnd: () => events.push('end'),
    },
    maxBytes,
  );
  for (const chunk of chunks) reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  if (end) reader.end();
  return events;
}

const lines = (...texts: string[]): Event[] => [...texts.map((line) => ({ line })), 'end'];

/** Cuts at the given positions, anywhere inside a character too. */
function cut(bytes: Buffer, positions: number[]): Buffer[] {
  const edges = [0, ...positions.map((position) => position % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

const anyBytes = fc.uint8Array({ maxLength: 400 });
const anyText = fc.string({ unit: 'binary', maxLength: 30 });
const messyLine = fc.oneof(
  anyText.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom('', ' ', '\t', '\r', '\ufeff', '{"id":1}', ' {"id":2} ', 'żółć', '😀')
    .map((text) => Buffer.from(text)),
);
const messyStream = fc
  .array(fc.tuple(messyLine, fc.constantFrom('\n', '\r\n', '')), { maxLength: 20 })
  .map((pairs) => Buffer.concat(pairs.flatMap(([line, ending]) => [line, Buffer.from(ending)])));
const positions = fc.array(fc.nat(1000), { maxLength: 12 });

test('any stream gives the same lines in any chunking', () => {
  fc.assert(
    fc.property(fc.oneof(anyBytes.map(Buffer.from), messyStream), positions, (bytes, at) => {
      expect(collect(cut(bytes, at))).toEqual(collect([bytes]));
    }),
    { numRuns: 1000 },
  );
});

test('any stream gives the same lines and rejections in any chunking under a small size limit', () => {
  fc.assert(
    fc.property(messyStream, positions, fc.integer({ min: 1, max: 40 }), (bytes, at, limit) => {
      expect(collect(cut(bytes, at), limit)).toEqual(collect([bytes], limit));
    }),
    { numRuns: 1000 },
  );
});

test('a stream read with pauses anywhere gives the same lines in the same order', () => {
  fc.assert(
    fc.property(messyStream, positions, fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }), (bytes, at, pauses) => {
      const events: Event[] = [];
      let turn = 0;
      const maybePause = () => {
        if (pauses[turn++ % pauses.length]) reader.pause();
      };
      const reader = new LineReader(
        {
          onLine: (line) => {
            events.push({ line });
            maybePause();
          },
          onRejected: (rejected, found) => {
            events.push({ rejected, found });
            maybePause();
          },
          onEnd: () => events.push('end'),
        },
        30,
      );
      for (const chunk of cut(bytes, at)) {
        reader.push(chunk);
        if (turn++ % 3 === 0) reader.resume();
      }
      reader.end();
      for (let left = 0; left < 100 && events.at(-1) !== 'end'; left++) reader.resume();
      expect(events).toEqual(collect([bytes], 30));
    }),
    { numRuns: 1000 },
  );
});

test('lines of text arrive as they were written', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).map((inner) => JSON.stringify(inner));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), positions, fc.constantFrom('\n', '\r\n'), (texts, at, ending) => {
      const bytes = Buffer.from(texts.map((line) => line + ending).join(''));
      expect(collect(cut(bytes, at))).toEqual(lines(...texts));
    }),
  );
});

test('a character split between two chunks is one character', () => {
  const bytes = Buffer.from('"😀"\n');
  for (let at = 0; at <= bytes.length; at++) {
    expect(collect([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(lines('"😀"'));
  }
});

test('carriage returns before the newline, blank lines and a byte order mark at the start are not part of a line', () => {
  expect(collect(['\ufeff{"a":1}\r\n\r\n\n  \t\n{"b":2}\n'])).toEqual(lines('{"a":1}', '{"b":2}'));
});

test('a byte order mark is tolerated only at the start of the stream', () => {
  expect(collect(['1\n\ufeff2\n'])).toEqual(lines('1', '\ufeff2'));
});

test('the last line counts without a newline', () => {
  expect(collect(['1\n2'])).toEqual(lines('1', '2'));
  expect(collect(['1\n2'], undefined, false)).toEqual([{ line: '1' }]);
});

test('a line that is not UTF-8 is rejected and its neighbours are read', () => {
  const bad = Buffer.concat([Buffer.from('{"id":7,"x":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
  const stream = Buffer.concat([Buffer.from('"ą"\n'), bad, Buffer.from('\n"ę"\n')]);
  expect(collect([stream])).toEqual([
    { line: '"ą"' },
    { rejected: 'not-utf8', found: { id: 7, isResponse: false } },
    { line: '"ę"' },
    'end',
  ]);
});

test('overlong forms and lone surrogates are not UTF-8', () => {
  for (const bytes of [
    [0xc0, 0xaf],
    [0xed, 0xa0, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0xe2, 0x82],
  ]) {
    expect(collect([Buffer.from([0x22, ...bytes, 0x22, 0x0a])])).toEqual([
      { rejected: 'not-utf8', found: { isResponse: false } },
      'end',
    ]);
  }
});

test('a line beyond the limit is discarded up to its newline, and rejected once', () => {
  const smuggled = `{"id":1,"x":"${'a'.repeat(100)}{"id":2}`;
  expect(collect([smuggled.slice(0, 30), smuggled.slice(30, 90), `${smuggled.slice(90)}\n{"id":3}\n`], 64)).toEqual([
    { rejected: 'too-large', found: { id: 1, isResponse: false } },
    { line: '{"id":3}' },
    'end',
  ]);
});

test('a line of exactly the limit is read', () => {
  const line = JSON.stringify('x'.repeat(62));
  expect(collect([`${line}\n`], 64)).toEqual(lines(line));
  expect(collect([`${line} \n`], 64)).toEqual([{ rejected: 'too-large', found: { isResponse: false } }, 'end']);
});

test('a line that never ends is rejected at the end of the stream', () => {
  expect(collect(['{"id":"a",', 'x'.repeat(100)], 32)).toEqual([
    { rejected: 'too-large', found: { id: 'a', isResponse: false } },
    'end',
  ]);
});

test('a line of 32 MiB is joined without copying its bytes repeatedly', () => {
  const grow = vi.spyOn(Buffer, 'allocUnsafeSlow');
  const join = vi.spyOn(Buffer, 'concat');
  let length = 0;
  const reader = new LineReader({ onLine: (line) => (length = line.length), onRejected: () => {} });
  const chunk = Buffer.alloc(64 * 1024, 'x');
  for (let n = 0; n < 512; n++) reader.push(chunk);
  reader.push(Buffer.from('\n'));
  const made = [...grow.mock.results, ...join.mock.results].reduce((sum, { value }) => sum + value.length, 0);
  vi.restoreAllMocks();
  expect(length).toBe(32 * 1024 * 1024);
  expect(made).toBeLessThan(3 * length);
});

test('a line of a million one-byte chunks takes no more memory than its bytes', () => {
  const byte = Buffer.from('x');
  let length = 0;
  const reader = new LineReader({ onLine: (line) => (length = line.length), onRejected: () => {} });
  const before = process.memoryUsage();
  for (let at = 0; at < 1_000_000; at++) reader.push(byte);
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(8 * 1024 * 1024);
  reader.push(Buffer.from('\n'));
  expect(length).toBe(1_000_000);
});

test('a closed reader passes on nothing more', () => {
  const seen: string[] = [];
  const reader = new LineReader({
    onLine: (line) => {
      seen.push(line);
      reader.close();
    },
    onRejected: () => {},
    onEnd: () => seen.push('end'),
  });
  reader.push(Buffer.from('1\n2\n3\n'));
  reader.push(Buffer.from('4\n'));
  reader.resume();
  reader.end();
  expect(seen).toEqual(['1']);
});

test('lines pushed from inside a listener keep their order', () => {
  const seen: string[] = [];
  const reader = new LineReader({
    onLine: (line) => {
      seen.push(line);
      if (line === '1') reader.push(Buffer.from('4\n'));
    },
    onRejected: () => {},
  });
  reader.push(Buffer.from('1\n2\n3\n'));
  expect(seen).toEqual(['1', '2', '3', '4']);
});

test('lines that were passed on are not kept while the reader is paused', async () => {
  const parsed: WeakRef<object>[] = [];
  const reader = new LineReader({
    parse: () => {
      const value = {};
      parsed.push(new WeakRef(value));
      return value;
    },
    onLine: () => reader.pause(),
    onRejected: () => {},
  });
  for (const chunk of ['1\n', '2\n', '3\n4\n']) {
    reader.push(Buffer.from(chunk));
    reader.resume();
  }
  // A WeakRef keeps its target until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(parsed).toHaveLength(4);
  expect(parsed.filter((each) => each.deref() !== undefined)).toEqual([]);
});

test('all lines of a chunk are parsed before the first one is passed on, each once', () => {
  const order: string[] = [];
  const reader = new LineReader({
    parse: (line) => {
      order.push(`parse ${line}`);
      return line.toUpperCase();
    },
    onLine: (line, parsed) => {
      order.push(`${line} ${parsed}`);
      if (line === 'b') reader.pause();
    },
    onRejected: () => {},
  });
  reader.push(Buffer.from('a\n'));
  reader.push(Buffer.from('b\n\nc\nd'));
  reader.resume();
  reader.push(Buffer.from('e\n'));
  expect(order).toEqual(['parse a', 'a A', 'parse b', 'parse c', 'b B', 'c C', 'parse de', 'de DE']);
});
