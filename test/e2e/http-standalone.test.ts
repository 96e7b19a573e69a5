// Stateless requests over Streamable HTTP: headers, statuses and the order in which errors are reported.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type HttpServer, serveHttp } from '../../src/index.ts';
import { both, EventReader, HttpTestClient, modernBody, modernHeaders, modernVersion } from '../support/http-client.ts';

let http: HttpServer;
let client: HttpTestClient;
const cancelled: unknown[] = [];
let ran = 0;

beforeAll(async () => {
  const server = createServer({ name: 'standalone', version: '1.0.0' });
  server.tool('add', {
    description: 'Adds',
    input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    run: ({ a, b }: { a: number; b: number }) => {
      ran++;
      return String(a + b);
    },
  });
  server.tool('mirrored', {
    description: 'Has arguments that headers mirror',
    input: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        count: { type: 'integer', 'x-mcp-header': 'Count' },
        deep: { type: 'object', properties: { on: { type: 'boolean', 'x-mcp-header': 'On' } } },
      },
    },
    run: (args: unknown) => JSON.stringify(args),
  });
  server.tool('steps', {
    description: 'Reports progress',
    run: async (_args: unknown, ctx) => {
      await ctx.progress(1, 2);
      await Promise.resolve();
      await ctx.progress(2, 2);
      return 'done';
    },
  });
  server.tool('hang', {
    description: 'Ends only when cancelled',
    run: (_args: unknown, ctx) =>
      new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => {
          cancelled.push(ctx.signal.reason);
          reject(ctx.signal.reason);
        });
      }),
  });
  server.tool('needs', { description: 'Needs sampling', needs: ['sampling'], run: () => 'ok' });
  server.resource('test://ä', { name: 'umlaut', read: () => 'read' });
  server.prompt('hello', { get: () => 'hi' });
  http = await serveHttp(server, { port: 0 });
  client = new HttpTestClient(http.port);
});

afterAll(async () => {
  client.close();
  await http.close();
});

const add = { name: 'add', arguments: { a: 1, b: 2 } };

test('a call is answered as JSON with status 200', async () => {
  const { status, headers, json } = await client.modern('tools/call', add);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/json');
  expect(headers['mcp-session-id']).toBeUndefined();
  expect(json.result).toMatchObject({ content: [{ type: 'text', text: '3' }], resultType: 'complete' });
});

test('S1-7: a call without Accept, or with any, is answered as JSON', async () => {
  for (const accept of [undefined, '*/*', 'application/json', 'application/*;q=0.5']) {
    const { status, headers } = await client.modern('tools/call', add, { headers: { Accept: accept } });
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
  }
});

test('a client that accepts only event streams gets the response as one event', async () => {
  const { status, headers, events } = await client.modern('tools/call', add, {
    headers: { Accept: 'text/event-stream' },
  });
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/event-stream');
  expect(headers['x-accel-buffering']).toBe('no');
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ event: 'message', id: undefined });
  expect(JSON.parse(events[0]?.data ?? '')).toMatchObject({ id: 1, result: { content: [{ text: '3' }] } });
});

test('the first interim message turns the response into a stream', async () => {
  const answer = await client.modern('tools/call', { name: 'steps' }, { meta: { progressToken: 'p' } });
  expect(answer.headers['content-type']).toBe('text/event-stream');
  expect(answer.headers['x-accel-buffering']).toBe('no');
  const messages = answer.events.map(({ data }) => JSON.parse(data as string));
  expect(messages.map((each) => each.method ?? 'answer')).toEqual([
    'notifications/progress',
    'notifications/progress',
    'answer',
  ]);
  expect(answer.events.every(({ id }) => id === undefined)).toBe(true);
});

test('a client that accepts only JSON gets the response without the interim messages', async () => {
  const answer = await client.modern(
    'tools/call',
    { name: 'steps' },
    { meta: { progressToken: 'p' }, headers: { Accept: 'application/json' } },
  );
  expect(answer.json.result).toMatchObject({ content: [{ text: 'done' }] });
});

test('a notification is accepted and not answered', async () => {
  for (const body of [
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', method: 'notifications/whatever' },
  ]) {
    const { status, text } = await client.send({ body, headers: modernHeaders(body.method) });
    expect([status, text]).toEqual([202, '']);
  }
});

test.each<[string, object, Record<string, string>]>([
  ['another method', {}, { 'Mcp-Method': 'tools/call' }],
  ['another method, beside a claim', modernBody('x').params, { 'Mcp-Method': 'tools/call' }],
  ['another version than its claim', modernBody('x').params, { 'MCP-Protocol-Version': '2025-11-25' }],
])('a notification whose headers name %s is rejected', async (_name, params, headers) => {
  const body = { jsonrpc: '2.0', method: 'notifications/whatever', params };
  const answer = await client.send({ body, headers: { ...modernHeaders(body.method), ...headers } });
  expect([answer.status, answer.json.id, answer.json.error?.code]).toEqual([400, undefined, -32020]);
});

describe('invalid bodies', () => {
  test.each<[string, string, number, number]>([
    ['broken JSON', '{"jsonrpc":', 400, -32700],
    ['an empty body', '', 400, -32700],
    ['a number', '7', 400, -32600],
    ['null', 'null', 400, -32600],
    ['a string', '"x"', 400, -32600],
    ['an array', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600],
    ['an empty array', '[]', 400, -32600],
    ['a message without version', '{"id":1,"method":"ping"}', 400, -32600],
    ['a posted response', '{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600],
    ['params that are an array', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', 400, -32600],
  ])('%s is rejected', async (_name, body, status, code) => {
    const answer = await client.send({ body, headers: modernHeaders('ping') });
    expect([answer.status, answer.json.error?.code]).toEqual([status, code]);
  });

  test('a body that is not UTF-8 is a parse error', async () => {
    const bytes = Buffer.from([0x22, 0xff, 0xfe, 0x22]);
    const response = await fetch(http.url, {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect((await response.json()).error.code).toBe(-32700);
  });

  test('a replacement character that was sent as such is valid text', async () => {
    const { json } = await client.modern('tools/call', { name: 'mirrored', arguments: { deep: { note: '\ufffd' } } });
    expect(json.result).toMatchObject({ content: [{ text: '{"deep":{"note":"\ufffd"}}' }] });
  });

  test('the error has the id wherever it was readable', async () => {
    const answer = await client.send({
      body: '{"jsonrpc":"1.0","id":"seven","method":"x"}',
      headers: modernHeaders('x'),
    });
    expect([answer.status, answer.json.id, answer.json.error?.code]).toEqual([400, 'seven', -32600]);
  });
});

describe('media types', () => {
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json-seq',
    undefined,
    'application/json; charset=latin1',
  ])('S1-4: Content-Type %s is rejected with 415', async (type) => {
    const before = ran;
    const answer = await client.modern('tools/call', add, { headers: { 'Content-Type': type } });
    expect([answer.status, answer.json.error?.code]).toEqual([415, -32600]);
    expect(ran).toBe(before);
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"'])(
    'Content-Type %s is JSON',
    async (type) => {
      expect((await client.modern('tools/call', add, { headers: { 'Content-Type': type } })).status).toBe(200);
    },
  );

  test('a compressed body is rejected', async () => {
    expect((await client.modern('tools/call', add, { headers: { 'Content-Encoding': 'gzip' } })).status).toBe(415);
  });

  test.each(['text/html', 'image/png, text/plain', 'application/json;q=0'])(
    'Accept %s is rejected with 406',
    async (accept) => {
      const answer = await client.modern('tools/call', add, { headers: { Accept: accept } });
      expect([answer.status, answer.json.error?.code]).toEqual([406, -32600]);
    },
  );

  test('a subscription needs an event stream', async () => {
    const params = { notifications: { toolsListChanged: true } };
    const answer = await client.modern('subscriptions/listen', params, {
      id: 9,
      headers: { Accept: 'application/json' },
    });
    expect([answer.status, answer.json.id, answer.json.error?.code]).toEqual([406, 9, -32600]);
  });
});

describe('header and body must agree', () => {
  const wrong: [string, Record<string, string | undefined>][] = [
    ['no MCP-Protocol-Version', { 'MCP-Protocol-Version': undefined }],
    ['another MCP-Protocol-Version', { 'MCP-Protocol-Version': '2025-11-25' }],
    ['no Mcp-Method', { 'Mcp-Method': undefined }],
    ['another Mcp-Method', { 'Mcp-Method': 'tools/list' }],
    ['Mcp-Method in capitals', { 'Mcp-Method': 'TOOLS/CALL' }],
    ['no Mcp-Name', { 'Mcp-Name': undefined }],
    ['another Mcp-Name', { 'Mcp-Name': 'subtract' }],
    ['Mcp-Name in capitals', { 'Mcp-Name': 'ADD' }],
    ['Mcp-Name with broken base64', { 'Mcp-Name': '=?base64?YWRk=?=' }],
    ['Mcp-Name twice', { 'Mcp-Name': 'add, add' }],
  ];
  test.each(wrong)('%s is rejected', async (_name, headers) => {
    const before = ran;
    const { status, json } = await client.modern('tools/call', add, { id: 'x', headers });
    expect([status, json.id, json.error?.code]).toEqual([400, 'x', -32020]);
    expect(ran).toBe(before);
  });

  test.each([
    ['padded values', { 'Mcp-Method': '  tools/call ', 'Mcp-Name': ' add\t', 'MCP-Protocol-Version': ' 2026-07-28 ' }],
    ['an encoded name', { 'Mcp-Name': '=?base64?YWRk?=' }],
    [
      'names in any case',
      { 'MCP-METHOD': 'tools/call', 'mCp-NaMe': 'add', 'Mcp-Method': undefined, 'Mcp-Name': undefined },
    ],
  ])('%s are accepted', async (_name, headers) => {
    expect((await client.modern('tools/call', add, { headers })).status).toBe(200);
  });

  test('a header that was sent twice contradicts the body', async () => {
    const answer = await client.modern('tools/call', add, { headers: { 'Mcp-Method': ['tools/call', 'tools/call'] } });
    expect([answer.status, answer.json.error?.code]).toEqual([400, -32020]);
  });

  test('a name that cannot be a header value is sent encoded', async () => {
    const uri = 'test://ä';
    const encoded = `=?base64?${Buffer.from(uri).toString('base64')}?=`;
    const ok = await client.modern('resources/read', { uri }, { headers: { 'Mcp-Name': encoded } });
    expect(ok.json.result).toMatchObject({ contents: [{ text: 'read' }] });
  });
});

describe('arguments mirrored in headers', () => {
  const call = (args: object, headers: Record<string, string | undefined>) =>
    client.modern('tools/call', { name: 'mirrored', arguments: args }, { headers });

  test.each<[string, object, Record<string, string>]>([
    ['a string', { region: 'north' }, { 'Mcp-Param-Region': 'north' }],
    ['a string with spaces inside', { region: 'far north' }, { 'Mcp-Param-Region': 'far north' }],
    ['an encoded string', { region: 'zürich' }, { 'Mcp-Param-Region': '=?base64?esO8cmljaA==?=' }],
    ['an empty string', { region: '' }, { 'Mcp-Param-Region': '' }],
    ['an encoded empty string', { region: '' }, { 'Mcp-Param-Region': '=?base64??=' }],
    ['half a sentinel, which is literal', { region: '=?base64?abc' }, { 'Mcp-Param-Region': '=?base64?abc' }],
    ['an integer', { count: 42 }, { 'Mcp-Param-Count': '42' }],
    ['an integer, compared as a number', { count: 42 }, { 'Mcp-Param-Count': '042' }],
    ['an integer with a fraction of zero', { count: 42 }, { 'Mcp-Param-Count': '42.0' }],
    ['an integer with an exponent', { count: -4200 }, { 'Mcp-Param-Count': '-4.2e3' }],
    ['a boolean', { deep: { on: true } }, { 'Mcp-Param-On': 'true' }],
    ['null without a header', { region: null }, {}],
    ['nothing at all', {}, {}],
  ])('%s agrees', async (_name, args, headers) => {
    const { status, json } = await call(args, headers);
    expect([status, json.error]).toEqual([200, undefined]);
  });

  test.each<[string, object, Record<string, string>]>([
    ['a missing header', { region: 'north' }, {}],
    ['another value', { region: 'north' }, { 'Mcp-Param-Region': 'south' }],
    ['another case', { region: 'north' }, { 'Mcp-Param-Region': 'North' }],
    ['bad padding', { region: 'Hello' }, { 'Mcp-Param-Region': '=?base64?SGVsbG8?=' }],
    ['a bad alphabet', { region: 'Hello' }, { 'Mcp-Param-Region': '=?base64?SGVs!G8=?=' }],
    ['bytes that are not UTF-8', { region: 'x' }, { 'Mcp-Param-Region': '=?base64?/w==?=' }],
    ['a header without an argument', {}, { 'Mcp-Param-Region': 'north' }],
    ['a header for null', { region: null }, { 'Mcp-Param-Region': 'null' }],
    ['another integer', { count: 42 }, { 'Mcp-Param-Count': '43' }],
    ['a fraction for an integer', { count: 42 }, { 'Mcp-Param-Count': '42.5' }],
    ['a hexadecimal integer', { count: 42 }, { 'Mcp-Param-Count': '0x2a' }],
    ['nothing for an integer', { count: 0 }, { 'Mcp-Param-Count': '' }],
    ['another boolean', { deep: { on: true } }, { 'Mcp-Param-On': 'false' }],
  ])('%s is rejected', async (_name, args, headers) => {
    const { status, json } = await call(args, headers);
    expect([status, json.id, json.error?.code]).toEqual([400, 1, -32020]);
  });
});

test.each<[string, string, unknown]>([
  ['a stateless request whose id is null', modernVersion, { ...modernBody('tools/list'), id: null }],
  ['a batch at the stateless revision', modernVersion, [modernBody('tools/list')]],
  ['a message whose header names 2025-11-25', '2025-11-25', { jsonrpc: '2.0', method: 5 }],
])('the error of %s has no id, not even null', async (_name, version, body) => {
  const { status, json } = await client.send({
    body,
    headers: { ...modernHeaders('tools/list'), 'MCP-Protocol-Version': version },
  });
  expect([status, json]).toEqual([
    400,
    { jsonrpc: '2.0', error: { code: -32600, message: expect.stringContaining('Invalid Request') } },
  ]);
});

describe('the revision that a request names', () => {
  const versionKey = 'io.modelcontextprotocol/protocolVersion';
  const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

  test.each<[string, object]>([
    ['no _meta at all', { jsonrpc: '2.0', id: 5, method: 'server/discover' }],
    [
      'a _meta without version',
      { jsonrpc: '2.0', id: 5, method: 'server/discover', params: { _meta: { [capabilitiesKey]: {} } } },
    ],
    [
      'a _meta without capabilities',
      { jsonrpc: '2.0', id: 5, method: 'server/discover', params: { _meta: { [versionKey]: '2026-07-28' } } },
    ],
    [
      'a version that is a number',
      {
        jsonrpc: '2.0',
        id: 5,
        method: 'server/discover',
        params: { _meta: { [versionKey]: 7, [capabilitiesKey]: {} } },
      },
    ],
  ])('%s is incomplete', async (_name, body) => {
    const { status, json } = await client.send({ body, headers: modernHeaders('server/discover') });
    expect([status, json.id, json.error?.code]).toEqual([400, 5, -32602]);
  });

  test('clientInfo may be absent', async () => {
    const body = {
      jsonrpc: '2.0',
      id: 5,
      method: 'server/discover',
      params: { _meta: { [versionKey]: '2026-07-28', [capabilitiesKey]: {} } },
    };
    expect((await client.send({ body, headers: modernHeaders('server/discover') })).status).toBe(200);
  });

  test('an unsupported version names the supported ones', async () => {
    const meta = { [versionKey]: 'v999.0.0' };
    const { status, json } = await client.modern(
      'server/discover',
      {},
      { meta, headers: { 'MCP-Protocol-Version': 'v999.0.0' } },
    );
    expect([status, json.error?.code]).toEqual([400, -32022]);
    expect(json.error?.data).toEqual({ supported: ['2026-07-28'], requested: 'v999.0.0' });
  });

  test('an unsupported version of the header is reported before a missing _meta', async () => {
    const body = { jsonrpc: '2.0', id: 5, method: 'tools/list', params: {} };
    const headers = { ...modernHeaders('tools/list'), 'MCP-Protocol-Version': '2030-01-01' };
    const { status, json } = await client.send({ body, headers });
    expect([status, json.id, json.error?.code]).toEqual([400, 5, -32022]);
    expect(json.error?.message).toContain('Unsupported protocol version 2030-01-01');
    expect(json.error?.data).toEqual({ supported: ['2026-07-28'], requested: '2030-01-01' });
  });

  test('a contradicting header is reported before an unsupported version', async () => {
    const { status, json } = await client.modern('server/discover', {}, { meta: { [versionKey]: 'v999.0.0' } });
    expect([status, json.error?.code]).toEqual([400, -32020]);
  });

  test('an incomplete _meta is reported before a contradicting header', async () => {
    const meta = { [capabilitiesKey]: 'none' };
    const { json } = await client.modern(
      'server/discover',
      {},
      { meta, headers: { 'MCP-Protocol-Version': '2025-06-18' } },
    );
    expect(json.error?.code).toBe(-32602);
  });

  test('an unsupported version is reported before a missing Mcp-Method', async () => {
    const headers = { 'MCP-Protocol-Version': 'v999.0.0', 'Mcp-Method': undefined };
    const { json } = await client.modern('server/discover', {}, { meta: { [versionKey]: 'v999.0.0' }, headers });
    expect(json.error?.code).toBe(-32022);
  });

  test('a missing header is reported before an unknown method', async () => {
    const { status, json } = await client.modern('no/such', {}, { headers: { 'Mcp-Method': undefined } });
    expect([status, json.error?.code]).toEqual([400, -32020]);
  });

  test.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'unknown/method',
  ])('%s does not exist here', async (method) => {
    const params = method.startsWith('resources/') ? { uri: 'test://x' } : { level: 'info' };
    const { status, json } = await client.modern(method, params, { id: 'gone' });
    expect([status, json.id, json.error?.code]).toEqual([404, 'gone', -32601]);
  });

  test('params of a wrong shape and unknown tools are answered with 200', async () => {
    const shape = await client.modern('tools/call', { name: 5 });
    expect([shape.status, shape.json.error?.code]).toEqual([200, -32602]);
    const unknown = await client.modern('tools/call', { name: 'nope' });
    expect([unknown.status, unknown.json.error?.code]).toEqual([200, -32602]);
  });

  test('a missing capability is reported with 400 and what is required', async () => {
    const { status, json } = await client.modern('tools/call', { name: 'needs' });
    expect([status, json.error?.code]).toEqual([400, -32021]);
    expect(json.error?.data).toEqual({ requiredCapabilities: { sampling: {} } });
  });

  test('the session id of a stateless request is ignored', async () => {
    const { status, headers } = await client.modern('tools/call', add, {
      headers: { 'Mcp-Session-Id': 'whatever', 'Last-Event-ID': 'x' },
    });
    expect([status, headers['mcp-session-id']]).toEqual([200, undefined]);
  });
});

describe('disconnecting', () => {
  test('closing the connection before the response cancels the call', async () => {
    const before = cancelled.length;
    const abort = new AbortController();
    const params = { name: 'hang' };
    const sent = fetch(http.url, {
      method: 'POST',
      headers: { ...modernHeaders('tools/call', params), 'Content-Type': 'application/json' },
      body: JSON.stringify(modernBody('tools/call', params)),
      signal: abort.signal,
    });
    await expect.poll(() => client.send({ method: 'GET', path: '/health' }).then(({ status }) => status)).toBe(200);
    abort.abort();
    await expect(sent).rejects.toThrow();
    await expect.poll(() => cancelled.length).toBe(before + 1);
  });

  test('a subscription is acknowledged first, gets changes, and ends when its client disconnects', async () => {
    const params = { notifications: { toolsListChanged: true } };
    const stream = new EventReader(
      await client.open({
        body: modernBody('subscriptions/listen', params, 'sub'),
        headers: { ...modernHeaders('subscriptions/listen'), Accept: both },
      }),
    );
    const [acknowledged] = await stream.until(1);
    expect(acknowledged).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true } },
    });
    expect(stream.events.every(({ id }) => id === undefined)).toBe(true);
    stream.cut();
  });
});

test('a wrong HTTP method is rejected before any other check', async () => {
  for (const method of ['PUT', 'PATCH', 'HEAD']) {
    const { status, headers } = await client.send({ method, headers: { Origin: 'https://evil.test' } });
    expect([status, headers['allow']]).toEqual([405, 'GET, POST, DELETE']);
  }
});
