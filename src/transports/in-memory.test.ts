import { expect, test } from 'vitest';
import { FakeHost } from '../../test/support/fake-host.ts';
import { connectInMemory } from './in-memory.ts';

const request = (id: number, method = 'echo', params?: object) => ({ jsonrpc: '2.0', id, method, params });

test('messages arrive later, in order, and are answered in order', async () => {
  const host = new FakeHost();
  const connection = connectInMemory(host);
  connection.send(request(1));
  connection.send('not json');
  connection.send(request(2));
  expect(host.channels[0]?.texts).toEqual([]);
  expect(await connection.receive()).toMatchObject({ id: 1 });
  expect(await connection.receive()).toMatchObject({ error: { code: -32700 } });
  expect(await connection.receive()).toMatchObject({ id: 2 });
  expect(host.channels[0]?.peer).toEqual({ transport: 'memory' });
});

test('a principal can be given without a transport', () => {
  const host = new FakeHost();
  connectInMemory(host, { peer: { principal: { id: 'guest' } } });
  expect(host.channels[0]?.peer).toEqual({ transport: 'memory', principal: { id: 'guest' } });
});

test('neither side sees later changes of the other to its object', async () => {
  const connection = connectInMemory(new FakeHost());
  const params = { a: 1 };
  connection.send(request(1, 'echo', params));
  params.a = 2;
  expect(await connection.receive()).toMatchObject({ result: { a: 1 } });
});

test('the connection can be iterated until its end', async () => {
  const connection = connectInMemory(new FakeHost());
  for (const id of [1, 2, 3]) connection.send(request(id, 'later', { ms: id }));
  const ended = connection.end();
  const ids: unknown[] = [];
  for await (const message of connection) ids.push((message as { id: number }).id);
  await ended;
  expect(ids).toEqual([1, 2, 3]);
  expect(await connection.receive()).toBeUndefined();
  expect(() => connection.send(request(4))).toThrow('closed');
});

test('a listener gets the texts as they are', async () => {
  const texts: string[] = [];
  const connection = connectInMemory(new FakeHost(), {
    onText: (text) => texts.push(text),
    peer: { transport: 'stdio' },
  });
  connection.send(request(1));
  await connection.end();
  expect(texts).toEqual(['{"jsonrpc":"2.0","id":1,"result":{}}']);
});

test('closing aborts open calls and ends pending reads', async () => {
  const host = new FakeHost();
  const connection = connectInMemory(host);
  const waiting = connection.receive();
  connection.send(request(1));
  connection.close();
  expect(await waiting).toBeUndefined();
  expect([host.channels[0]?.closed, host.channels[0]?.texts]).toEqual([true, []]);
  expect(host.channels[0]?.outlet.push('{}')).toBe(false);
});
