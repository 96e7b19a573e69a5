import { expect, test } from 'vitest';
import { EventReader } from './event-stream.ts';

interface Read {
  readonly events: [data: string, type: string][];
  readonly tooLarge: boolean;
  readonly reader: EventReader;
}

/** Reads a stream in pieces of `size` bytes. */
function read(text: string, size = Number.POSITIVE_INFINITY, maxLength = 1_000): Read {
  const events: [string, string][] = [];
  let tooLarge = false;
  const listener = {
    event: (data: string, type: string) => void events.push([data, type]),
    tooLarge: () => {
      tooLarge = true;
    },
  };
  const reader = new EventReader(listener, maxLength);
  const bytes = new TextEncoder().encode(text);
  const step = Math.min(size, bytes.length);
  for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step));
  return { events, tooLarge, reader };
}

const sizes = [1, 2, 3, 7, Number.POSITIVE_INFINITY];

test.each(sizes)('events are the same in pieces of %d bytes, whatever ends their lines', (size) => {
  for (const end of ['\n', '\r', '\r\n']) {
    const lines = [': hello', 'event: note', 'data: grüße', 'data:  two', '', 'data:x', '', 'id: 7', 'data: y', '', ''];
    const { events, reader } = read(lines.join(end), size);
    expect(events).toEqual([
      ['grüße\n two', 'note'],
      ['x', 'message'],
      ['y', 'message'],
    ]);
    expect(reader.lastEventId).toBe('7');
  }
});

test.each(sizes)('the limit is for one event as a whole, in pieces of %d bytes too', (size) => {
  const most = `data: ${'x'.repeat(900)}\n\n`;
  expect(read(most.repeat(3), size)).toMatchObject({ tooLarge: false, events: { length: 3 } });
  expect(read(`data: ${'x'.repeat(1_100)}\n\n`, size).tooLarge).toBe(true);
  expect(read(`data: ${'x'.repeat(600)}\n`.repeat(2), size).tooLarge).toBe(true);
  expect(read('x'.repeat(1_100), size).tooLarge).toBe(true);
});

test('an id without content takes back the last one; one that no header could carry is ignored', () => {
  expect(read('id: 1\ndata: a\n\nid\ndata: b\n\n').reader.lastEventId).toBeUndefined();
  expect(read('id: 1\ndata: a\n\nid: \u0000\ndata: b\n\n').reader.lastEventId).toBe('1');
});

test('a pause the server asks for is kept within reason', () => {
  expect(read('retry: 250\n\n').reader.retryMs).toBe(250);
  expect(read('retry: 99999999999\n\n').reader.retryMs).toBe(300_000);
  expect(read('retry: soon\n\n').reader.retryMs).toBeUndefined();
});

test.each(sizes)('a byte order mark is removed from the start only, in pieces of %d bytes', (size) => {
  const { events } = read('\ufeffdata: a\n\n\ufeffdata: b\n\ndata: \ufeffc\n\n', size);
  expect(events).toEqual([
    ['a', 'message'],
    ['\ufeffc', 'message'],
  ]);
});

test('an event that is not finished is thrown away', () => {
  expect(read('data: a\n\ndata: b\n').events).toEqual([['a', 'message']]);
});

test('empty lines of data count against the limit too', () => {
  for (const line of ['data:\n', 'data\n', 'data: \n']) {
    expect(read(line.repeat(1_002)).tooLarge).toBe(true);
    expect(read(line.repeat(1_001)).tooLarge).toBe(false);
  }
});
