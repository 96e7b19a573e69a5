// Messages made to hurt: too deep, too wide, too long, with names that mean something to the language. Each is answered,
// and the next one is served.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import { applyPolicy, compilePolicy } from '../../src/security/policy/index.ts';
import { type HttpServer, serveHttp } from '../../src/transports/http.ts';
import { HttpTestClient } from '../support/http-client.ts';
import { TestClient } from '../support/test-client.ts';

function target(): Server {
  const server = createServer({ name: 'target', version: '1.0.0' });
  server.tool('echo', {
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: (args) => JSON.stringify(args),
  });
  server.resourceTemplate('note://{/id*}', { name: 'n', read: ({ id }) => id });
  server.prompt('greet', { args: { name: {} }, get: ({ name }) => `hello ${name}` });
  applyPolicy(server, compilePolicy({ version: 1, default: 'allow', rules: [{ effect: 'deny', tools: ['x*y*z'] }] }));
  return server;
}

const call = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`;

const bombs: readonly (readonly [string, string])[] = [
  ['two million open lists', '['.repeat(2_000_000)],
  ['a call nested 100,000 deep', call(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
  ['a call nested 300 deep', call(`${'['.repeat(300)}${']'.repeat(300)}`)],
  ['a million empty objects', call(`{"a":[${'{},'.repeat(1_000_000)}{}]}`)],
  ['300,000 keys', call(`{${Array.from({ length: 300_000 }, (_, n) => `"k${n}":1`).join(',')}}`)],
  ['one key of a megabyte', call(`{"${'k'.repeat(1_000_000)}":1}`)],
  ['a number of a megabyte', call(`{"n":${'9'.repeat(1_000_000)}}`)],
  ['a text of nothing but escapes', call(`{"text":"${'\\u0000'.repeat(200_000)}"}`)],
  ['half a surrogate', call('{"text":"\\ud800"}')],
];

test.each(bombs)('%s is answered, and so is the next message', async (_what, text) => {
  const client = await TestClient.open(target());
  client.channel.receiveText(text);
  await client.next((each) => each.method === undefined && each.id !== 'c1');
  expect((await client.request('ping')).result).toEqual({});
});

test('too deep and too wide a message is rejected before it is read, a long text with many commas is not', async () => {
  const client = await TestClient.open(target());
  const rejected = async (text: string) => {
    client.received.length = 0;
    client.channel.receiveText(text);
    return (await client.next((each) => each.method === undefined)).error?.message;
  };
  const [, , deep, wide, keys] = bombs.map(([, text]) => text);
  expect(await rejected(deep as string)).toBe('Message is nested deeper than 256 levels');
  expect(await rejected(wide as string)).toBe('Message holds more than 200000 values');
  expect(await rejected(keys as string)).toBe('Message holds more than 200000 values');
  expect(await rejected(call(`{"text":"${',\\",'.repeat(200_000)}"}`))).toBeUndefined();
  expect(await rejected(call(`{"list":[${'0,'.repeat(190_000)}0]}`))).toBeUndefined();
});

describe('over HTTP', () => {
  let http: HttpServer;
  let client: HttpTestClient;
  beforeAll(async () => {
    http = await serveHttp(target(), { port: 0, graceMs: 100 });
    client = new HttpTestClient(http.port);
  });
  afterAll(async () => {
    client.close();
    await http.close();
  });

  test.each(bombs)('%s is answered, and so is the next message', async (_what, text) => {
    const session = await client.initialize();
    const answer = await client.send({
      body: text,
      headers: { Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': session },
    });
    expect([200, 400, 413]).toContain(answer.status);
    expect((await client.session(session, 'ping')).json.result).toEqual({});
  });

  test('a body without end is cut off, and the next one is served', async () => {
    const answer = await client
      .send({ body: `"${'x'.repeat(11 * 1024 * 1024)}"`, headers: { Accept: 'application/json, text/event-stream' } })
      .catch((error: NodeJS.ErrnoException) => error);
    expect(answer instanceof Error ? answer.code : answer.status).toSatisfy(
      (each) => each === 413 || each === 'ECONNRESET' || each === 'EPIPE',
    );
    expect(await client.initialize()).toBeTypeOf('string');
  });
});

describe('names that mean something to the language', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];

  test.each(names)('%s is no tool, prompt, method, resource or argument', async (name) => {
    const client = await TestClient.open(target());
    expect((await client.call(name, {})).error?.code).toBe(-32602);
    expect((await client.request('prompts/get', { name })).error?.code).toBe(-32602);
    expect((await client.request(name)).error?.code).toBe(-32601);
    expect((await client.request('resources/read', { uri: `x:${name}` })).error?.code).toBe(-32002);
    const prompt = await client.request('prompts/get', { name: 'greet', arguments: { [name]: 'x' } });
    expect(prompt.result.messages[0].content.text).toBe('hello undefined');
    client.channel.receiveText(
      `{"jsonrpc":"2.0","id":"p","method":"tools/call","params":{"name":"echo","arguments":{"${name}":{"polluted":true}}}}`,
    );
    await client.next(({ id }) => id === 'p');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((await client.request('logging/setLevel', { level: name })).error).toBeDefined();
  });

  test('as whole messages and params they change nothing', async () => {
    const client = await TestClient.open(target());
    for (const text of [
      '{"__proto__":{"method":"tools/list"},"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"name":"echo"}}}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"__proto__":{"progressToken":1}}}}',
    ]) {
      client.received.length = 0;
      client.channel.receiveText(text);
      await client.next(() => true);
    }
    expect(({} as Record<string, unknown>)['method']).toBeUndefined();
    expect((await client.request('ping')).result).toEqual({});
  });
});

test('texts made to slow a matcher down are answered at once: URIs, globs, templates', async () => {
  const client = await TestClient.open(target());
  const commas = ','.repeat(200_000);
  expect((await client.request('resources/read', { uri: `note:///${commas}` })).id).toBeDefined();
  expect((await client.request('resources/read', { uri: `x:${'../'.repeat(100_000)}` })).error).toBeDefined();
  expect((await client.call(`x${'y'.repeat(500_000)}`, {})).error).toBeDefined();
  expect((await client.request('ping')).result).toEqual({});
});
