import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLogger, type LoggerOptions, parseLevel } from './logger.ts';

/** Runs a few log calls and returns what was written. */
function written(options: LoggerOptions, use: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  use(createLogger({ stream, env: {}, ...options }));
  return text;
}

const json = (options: LoggerOptions, use: Parameters<typeof written>[1]): Record<string, unknown>[] =>
  written({ json: true, ...options }, use)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

test('a text line has time, level, name, message and fields', () => {
  const text = written({ name: 'weather' }, (logger) =>
    logger.info('station found', { city: 'Gdynia', note: 'a b', n: 1 }),
  );
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {4}\[weather\] station found city=Gdynia note="a b" n=1\n$/);
});

test('a line break in a field is escaped once', () => {
  expect(written({}, (logger) => logger.info('it failed', { why: 'two\nlines' }))).toMatch(/ why="two\\nlines"\n$/);
});

test('S0-56: MCP_LOG_JSON=true makes each record a line of JSON', () => {
  const text = written({ env: { MCP_LOG_JSON: 'true' } }, (logger) => logger.warn('low\nwater', { metres: 2 }));
  expect(text.endsWith('\n')).toBe(true);
  expect(JSON.parse(text)).toEqual({ time: expect.any(String), level: 'warning', message: 'low\nwater', metres: 2 });
});

test('S0-55: MCP_LOG_LEVEL sets the lowest level, by any usual name in any case', () => {
  const speak = (level: string) =>
    json({ env: { MCP_LOG_LEVEL: level } }, (logger) => {
      logger.debug('d');
      logger.info('i');
      logger.notice('n');
      logger.warn('w');
      logger.error('e');
    }).map((record) => record['message']);
  expect(speak('DEBUG')).toEqual(['d', 'i', 'n', 'w', 'e']);
  expect(speak('')).toEqual(['i', 'n', 'w', 'e']);
  expect(speak('Notice')).toEqual(['n', 'w', 'e']);
  expect(speak('WARNING')).toEqual(['w', 'e']);
  expect(speak(' warn ')).toEqual(['w', 'e']);
  expect(speak('ERROR')).toEqual(['e']);
  expect(speak('CRITICAL')).toEqual([]);
  expect(speak('off')).toEqual([]);
});

test('an unknown level is reported once, with the known ones, and info is used', () => {
  const records = json({ env: { MCP_LOG_LEVEL: 'loud' } }, (logger) => logger.info('i'));
  expect(records[0]).toMatchObject({ level: 'warning', message: 'unknown log level "loud"; using info' });
  expect(records[0]?.['known']).toContain('debug');
  expect(records[1]).toMatchObject({ message: 'i' });
  expect(parseLevel('constructor')).toBeUndefined();
});

test('enabled returns whether a level would be written', () => {
  written({ level: 'warning' }, (logger) => {
    expect([logger.enabled('info'), logger.enabled('warning'), logger.enabled('error')]).toEqual([false, true, true]);
  });
});

test('a child adds its fields to each record', () => {
  const [record] = json({}, (logger) => logger.child({ a: 1, b: 1 }).child({ b: 2 }).info('m', { c: 3 }));
  expect(record).toMatchObject({ a: 1, b: 2, c: 3 });
});

test('secrets are redacted by key at any depth, and bearer tokens anywhere', () => {
  const text = written({ json: true }, (logger) =>
    logger.info('sent Authorization: Bearer abcdefghij', {
      password: 'hunter2',
      api_key: 'hunter2',
      accessToken: 'hunter2',
      nested: [{ headers: { 'Set-Cookie': 'hunter2', 'x-api-key': 'hunter2' } }],
      error: Object.assign(new Error('Bearer hunter2hunter2'), { clientSecret: 'hunter2' }),
      maxTokens: 100,
    }),
  );
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('abcdefghij');
  expect(JSON.parse(text)).toMatchObject({ password: '[redacted]', maxTokens: 100 });
});

test('a redact function of the user is called first', () => {
  const redact = ({ text: _, ...rest }: Record<string, unknown>) => rest;
  expect(json({ redact }, (logger) => logger.info('m', { text: 'private', other: 1, token: 't' }))[0]).toEqual({
    time: expect.any(String),
    level: 'info',
    message: 'm',
    other: 1,
    token: '[redacted]',
  });
});

test('nothing that is logged can look like another record or control the terminal', () => {
  const text = written({}, (logger) =>
    logger.info('a\r\n2026-01-01T00:00:00.000Z ERROR forged', { k: '\x1b[2J\u2028\x9b31m', 'a\nb': new Error('x\ny') }),
  );
  expect(text.split('\n')).toHaveLength(2);
  expect(text.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
});

test('errors show their causes, and their stacks at level error or when debugging', () => {
  const error = new Error('outer', { cause: new TypeError('inner') });
  const [info, bad] = json({}, (logger) => {
    logger.info('m', { error });
    logger.error('m', { error });
  });
  expect(info?.['error']).toEqual({ name: 'Error', message: 'outer', cause: { name: 'TypeError', message: 'inner' } });
  expect(bad?.['error']).toMatchObject({ stack: expect.stringContaining('logger.test.ts') });
  const text = written({}, (logger) => logger.error('m', { error }));
  expect(text).toMatch(/\n {4}Error: outer\n {8}at /);
});

test('colours are used on terminals only, and not with NO_COLOR', () => {
  const terminal = (env: Record<string, string>): string => {
    const stream = Object.assign(new PassThrough(), { isTTY: true });
    createLogger({ stream, env }).error('m');
    return String(stream.read());
  };
  expect(terminal({})).toContain('\x1b[31m');
  expect(terminal({ NO_COLOR: '1' })).not.toContain('\x1b');
  expect(terminal({ TERM: 'dumb' })).not.toContain('\x1b');
});

test('a field with the name of a part of the record does not replace it', () => {
  const [record] = json({}, (logger) => logger.info('m', { level: 'x', message: 'y', time: 'z', __proto__: { q: 1 } }));
  expect(record).toMatchObject({ level: 'info', message: 'm', level_: 'x', message_: 'y', time_: 'z' });
});

test('any value is logged as one line of limited length, and never throws', () => {
  const circle: Record<string, unknown> = { name: 'circle' };
  circle['self'] = circle;
  const hostile = [
    circle,
    {
      big: 10n,
      sign: Symbol('s'),
      fn() {},
      none: undefined,
      nan: Number.NaN,
      date: new Date(0),
      bad: new Date(Number.NaN),
    },
    { bytes: Buffer.alloc(1_000_000), map: new Map([[1, 2]]), set: new Set([1]), url: new URL('http://a/') },
    { text: 'x'.repeat(1_000_000), list: Array.from({ length: 100_000 }, (_, i) => ({ i })) },
    Object.defineProperty({}, 'trap', { enumerable: true, get: () => fail() }),
    { proxy: new Proxy({}, { ownKeys: () => fail() }) },
    { error: Object.assign(new Error('m'), { message: { toString: () => fail() } }) },
    JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`),
  ];
  for (const fields of hostile) {
    for (const options of [{ json: true }, { json: false }]) {
      const text = written(options, (logger) => logger.info('m', fields));
      expect(text.length).toBeLessThan(20_000);
      expect(text.split('\n')).toHaveLength(2);
    }
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.object({ maxDepth: 2, maxKeys: 4 }), (message, fields) => {
      expect(JSON.parse(written({ json: true }, (logger) => logger.info(message, fields)))).toHaveProperty('level');
      expect(written({}, (logger) => logger.info(message, fields)).split('\n')).toHaveLength(2);
    }),
  );
});

function fail(): never {
  throw new Error('hostile');
}
