import { describe, expect, test } from 'vitest';
import { createEventLog } from './event-log.ts';

describe('the log in memory', () => {
  const texts = (events: readonly { text: string }[] | undefined | Promise<unknown>) =>
    (events as { text: string }[] | undefined)?.map(({ text }) => text);

  test('it is bounded by count, the oldest go first', () => {
    const log = createEventLog({ maxEvents: 3 });
    for (let n = 0; n < 5; n++) log.append('session', n < 2 ? 'a' : 'b', { sequence: n, text: `${n}` });
    expect(texts(log.after('session', 'b', 2))).toEqual(['3', '4']);
    expect(log.after('session', 'a', 0)).toBeUndefined();
    log.append('session', 'c', { sequence: 0, text: 'x' });
    log.append('session', 'c', { sequence: 1, text: 'y' });
    expect(log.after('session', 'b', 2)).toBeUndefined();
    expect(texts(log.after('session', 'b', 3))).toEqual(['4']);
  });

  test('it is bounded by bytes', () => {
    const log = createEventLog({ maxBytes: 10_000 });
    for (let n = 0; n < 10; n++) log.append('session', 'a', { sequence: n, text: 'x'.repeat(2000) });
    expect(log.after('session', 'a', 5)).toBeUndefined();
    expect(texts(log.after('session', 'a', 8))).toHaveLength(1);
  });

  test('one caller cannot evict the events of another, by bytes or by count, however many sessions it has', () => {
    const log = createEventLog({ maxEventsPerCaller: 10, maxBytesPerCaller: 10_000 });
    log.append('honest', 'a', { sequence: 0, text: '0' }, 'bob');
    log.append('honest', 'a', { sequence: 1, text: '1' }, 'bob');
    for (let n = 0; n < 1_000; n++) log.append(`session ${n}`, 'a', { sequence: 0, text: 'x' }, 'alice');
    expect(log.after('session 989', 'a', 0)).toBeUndefined();
    expect(texts(log.after('session 990', 'a', -1))).toEqual(['x']);
    for (let n = 0; n < 100; n++) log.append('large', 'b', { sequence: n, text: 'x'.repeat(2_000) }, 'alice');
    expect(texts(log.after('large', 'b', 97))).toHaveLength(2);
    expect(log.after('large', 'b', 96)).toBeUndefined();
    expect(texts(log.after('honest', 'a', 0))).toEqual(['1']);
    // A stream goes on where it was cut, and a caller that has nothing left begins again.
    log.append('large', 'b', { sequence: 100, text: 'y' }, 'alice');
    expect(texts(log.after('large', 'b', 99))).toEqual(['y']);
    log.forget('large');
    log.append('new', 'a', { sequence: 0, text: 'z' }, 'alice');
    expect(texts(log.after('new', 'a', -1))).toEqual(['z']);
  });

  test('it is bounded by age', () => {
    let now = 0;
    const log = createEventLog({ maxAgeMs: 1000 }, () => now);
    log.append('session', 'a', { sequence: 0, text: 'old' });
    now = 900;
    log.append('session', 'a', { sequence: 1, text: 'new' });
    expect(texts(log.after('session', 'a', 0))).toEqual(['new']);
    now = 1500;
    expect(texts(log.after('session', 'a', 0))).toEqual(['new']);
    now = 5000;
    expect(log.after('session', 'a', 0)).toBeUndefined();
  });

  test('a stream that has lost its oldest events reports it, and never leaves a gap', () => {
    let now = 0;
    const log = createEventLog({ maxAgeMs: 1000 }, () => now);
    for (let n = 0; n < 3; n++) log.append('session', 'a', { sequence: n, text: `${n}` });
    now = 5000;
    log.append('session', 'a', { sequence: 3, text: '3' });
    expect(log.after('session', 'a', 1)).toBeUndefined();
    expect(texts(log.after('session', 'a', 2))).toEqual(['3']);
  });

  test('sessions are separate and are removed one by one', () => {
    const log = createEventLog();
    for (const session of ['one', 'two'])
      for (let n = 0; n < 2; n++) log.append(session, 'a', { sequence: n, text: `${session} ${n}` });
    log.forget('one');
    expect(log.after('one', 'a', 0)).toBeUndefined();
    expect(texts(log.after('two', 'a', 0))).toEqual(['two 1']);
    expect(log.after('two', 'a', 7)).toBeUndefined();
  });

  test('removed sessions leave nothing behind, and the limits hold for the others', () => {
    const log = createEventLog({ maxEvents: 100 });
    for (let n = 0; n < 50; n++) log.append('stays', 'a', { sequence: n, text: `${n}` });
    for (let n = 0; n < 10_000; n++) {
      log.append(`goes ${n}`, 'a', { sequence: 0, text: 'x'.repeat(1000) });
      log.forget(`goes ${n}`);
    }
    expect(texts(log.after('stays', 'a', 47))).toEqual(['48', '49']);
    expect(texts(log.after('stays', 'a', 0))).toHaveLength(49);
    for (let n = 50; n < 200; n++) log.append('stays', 'a', { sequence: n, text: `${n}` });
    expect(log.after('stays', 'a', 98)).toBeUndefined();
    expect(texts(log.after('stays', 'a', 99))).toHaveLength(100);
  });
});
