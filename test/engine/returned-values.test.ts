// What a handler returns or throws by mistake: the model and the log learn what was wrong, and nothing is lost without a word.

import { expect, test, vi } from 'vitest';
import { connect, inMemory } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { createServer, type ServerOptions } from '../../src/index.ts';

async function resultOf(run: () => unknown, options: Partial<ServerOptions> = {}) {
  const warn = vi.fn();
  const error = vi.fn();
  const logger = { ...silentLogger, warn, error };
  const server = createServer({ name: 'careless', version: '1.0.0', logger, ...options });
  server.tool('stock', { run: run as () => string });
  const client = await connect(inMemory(server));
  const result = await client.callTool('stock');
  await client.callTool('stock');
  await client.close();
  return { result, warnings: warn.mock.calls.map(([message]) => message), errors: error.mock.calls };
}

const failure = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });
const ring: Record<string, unknown> = {};
ring['self'] = ring;

test.each<[string, () => unknown, string]>([
  [
    'a BigInt',
    () => ({ rows: [{ id: 1n }] }),
    'The tool returned a BigInt in "rows[0].id", which JSON cannot represent;',
  ],
  ['a ring', () => ring, 'The tool returned an object that contains itself in "self", which JSON cannot represent;'],
  ['a function', () => () => 1, 'The tool returned a function, which JSON cannot represent;'],
  [
    'a failure without content blocks',
    () => ({ isError: true, content: 'sold out' }),
    'The tool returned "isError" with a "content" that is not a list of content blocks; return { isError: true,',
  ],
  ['a Map', async () => new Map([['tea', 3]]), 'The tool returned a Map, which JSON cannot represent;'],
  ['an error', () => new Error('sold out'), 'The tool returned an Error, which JSON cannot represent; throw it,'],
  ['bytes', () => new Uint8Array(3), 'The tool returned a Uint8Array, which JSON cannot represent; return image('],
  ['a generator', () => (function* () {})(), 'which JSON cannot represent; return an object with the fields'],
  [
    'a BigInt beside content',
    () => ({ content: [{ type: 'text', text: 'x' }], structuredContent: { id: 1n } }),
    'Do not know how to serialize a BigInt',
  ],
])('a tool that returns %s has failed, and says why', async (_, run, message) => {
  const { result, errors } = await resultOf(run);
  expect(result).toMatchObject(failure(expect.stringContaining(message)));
  expect(errors[0]?.[0]).toBe('tool stock failed');
});

test('with masked errors only the log says why', async () => {
  const { result, errors } = await resultOf(() => 1n, { errors: 'masked' });
  expect(result).toMatchObject(failure('The tool failed. The reason is in the log of the server.'));
  expect(errors[0]?.[1].error.message).toContain('a BigInt');
});

test.each<[string, () => unknown, string]>([
  [
    'a promise',
    () => ({ user: Promise.resolve('Ada') }),
    'a Promise in "user", which JSON cannot represent; write "await"',
  ],
  [
    'a Map',
    () => ({ left: new Map() }),
    'a Map in "left", which JSON cannot represent; return Object.fromEntries(map)',
  ],
  [
    'an error',
    () => ({ ok: false, error: new Error('x') }),
    'an Error in "error", which JSON cannot represent; throw it',
  ],
])('a result with %s in it is sent as JSON has it, with one warning', async (_, run, message) => {
  const { result, warnings } = await resultOf(run);
  expect(result.isError).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining(`tool stock returned ${message}`)]);
});

test.each<[string, unknown, string]>([
  ['a string', 'sold out', 'sold out'],
  ['an object with a message', { message: 'sold out' }, 'sold out'],
  ['an object without one', { code: 5 }, 'The tool threw an object without a message'],
  ['undefined', undefined, 'The tool threw nothing that says why'],
  ['an error without a message', new RangeError(), 'RangeError'],
])('a tool that throws %s has failed with a text', async (_, thrown, message) => {
  const { result } = await resultOf(() => {
    throw thrown;
  });
  expect(result).toMatchObject(failure(message));
});
