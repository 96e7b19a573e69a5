// What happens to an error that a handler throws: the caller gets a message, the operator gets the reason.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { connect, inMemory } from '../../src/client/index.ts';
import { createServer, type ServerOptions, UserError } from '../../src/index.ts';

const spy = vi.spyOn(console, 'error').mockImplementation(() => {});
afterEach(() => void spy.mockClear());

async function failing(options: Partial<ServerOptions> = {}, revision?: string) {
  const server = createServer({ name: 'failing', version: '1.0.0', ...options });
  server.tool('throws', {
    run: () => {
      throw new Error('the database is at 10.0.0.7');
    },
  });
  server.tool('rejects', { run: () => Promise.reject(new TypeError('x is not a function')) });
  server.tool('not_json', { run: () => ({ amount: 1n }) });
  server.tool('wrong_output', {
    output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const,
    run: () => ({ n: 'one' }) as never,
  });
  server.tool('no_return', {
    output: { type: 'object', properties: { n: { type: 'number' } } } as const,
    run: () => undefined as never,
  });
  server.tool('no_city', {
    run: () => {
      throw new UserError('There is no city called Atlantis');
    },
  });
  server.resource('demo://broken', {
    name: 'broken',
    read: () => {
      throw new Error('the disk is gone');
    },
  });
  server.resource('demo://private', {
    name: 'private',
    read: () => {
      throw new UserError('Sign in first');
    },
  });
  const client = await connect(inMemory(server), {
    client: { name: 'tester', version: '2.0' },
    ...(revision === undefined ? {} : { revision }),
  });
  const call = async (name: string) => {
    const { content, isError } = await client.callTool(name);
    return { text: content[0]?.type === 'text' ? content[0].text : '', isError };
  };
  return { client, call };
}

const logged = () => spy.mock.calls.map(([line, error]) => ({ line, error }));

describe.each(['2025-11-25', '2026-07-28'])('with a client of %s', (revision) => {
  test.each([
    ['throws', 'the database is at 10.0.0.7'],
    ['rejects', 'x is not a function'],
    ['not_json', 'BigInt'],
    ['wrong_output', 'does not match its output schema'],
    ['no_return', 'The tool returned nothing, but it has an output schema: a "return" is missing in its handler'],
  ])('the failure of %s is on the console by default, with tool, client and stack', async (tool, reason) => {
    const { call, client } = await failing({}, revision);
    await call(tool).catch(() => undefined);
    const [{ line, error } = { line: '', error: undefined }, ...others] = logged();
    expect(others).toEqual([]);
    expect(line).toContain(tool);
    expect(line).toContain('client="tester 2.0"');
    expect((error as Error).message).toContain(reason);
    expect((error as Error).stack).toContain('at ');
    await client.close();
  });

  test('a UserError is shown to the caller and is not an error of the server', async () => {
    const { call, client } = await failing({ errors: 'masked' }, revision);
    expect(await call('no_city')).toEqual({ text: 'There is no city called Atlantis', isError: true });
    await expect(client.readResource('demo://private')).rejects.toMatchObject({
      serverError: { message: 'Sign in first' },
    });
    expect(logged()).toEqual([]);
    await client.close();
  });

  test.each(['throws', 'rejects', 'not_json', 'wrong_output', 'no_return'])(
    'masked errors keep the reason why %s fails to the log',
    async (tool) => {
      const { call, client } = await failing({ errors: 'masked' }, revision);
      const { text, isError } = await call(tool);
      expect({ text, isError }).toEqual({
        text: 'The tool failed. The reason is in the log of the server.',
        isError: true,
      });
      expect(logged()).toHaveLength(1);
      await client.close();
    },
  );

  test('a resource that cannot be read is logged, and its reason is never sent', async () => {
    const { client } = await failing({}, revision);
    const error = await client.readResource('demo://broken').catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).not.toContain('the disk is gone');
    expect(logged()).toMatchObject([{ line: expect.stringContaining('demo://broken') }]);
    await client.close();
  });
});

test('logger: false logs nothing', async () => {
  const { call, client } = await failing({ logger: false });
  expect((await call('throws')).isError).toBe(true);
  expect(logged()).toEqual([]);
  await client.close();
});
