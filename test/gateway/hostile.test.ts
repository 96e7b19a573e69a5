// Upstreams that mean harm, or behave as if they did: the gateway and its other servers go on.

import { afterEach, expect, test } from 'vitest';
import type { ClientError, Transport } from '../../src/client/index.ts';
import { connect, inMemory } from '../../src/client/index.ts';
import { createGateway, type Gateway } from '../../src/gateway/index.ts';
import { createServer, type Server, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { type Answer, type Fields, scripted, tool } from './answers.ts';
import { clientOf, gatewayConfig, upstream } from './fixture.ts';

const closers = useClosers(afterEach);

const noLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

function good(): Server {
  const server = createServer({ name: 'good', version: '1.0.0', logger: false });
  server.tool('work', { run: () => 'works' });
  return server;
}

function gatewayWith(bad: () => Transport): Gateway {
  const servers = ['bad', 'good'].map((slug) => upstream(slug, { revision: slug === 'bad' ? '2025-06-18' : 'auto' }));
  const gateway = createGateway(gatewayConfig(servers), {
    logger: false,
    target: ({ slug }) => (slug === 'bad' ? bad : inMemory(good())),
  });
  closers.push(() => gateway.close());
  return gateway;
}

test('a list whose cursors repeat is rejected; other servers are listed', async () => {
  const gateway = gatewayWith(scripted({ 'tools/list': () => ({ tools: [tool('a')], nextCursor: 'again' }) }));
  const client = await clientOf(closers, gateway.server);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['good__work']);
  expect(gateway.status()[0]).toMatchObject({
    state: 'degraded',
    reason: expect.stringContaining('its cursors repeat'),
  });
});

test('a list with more pages than the gateway reads is rejected, without advice about options that it does not have', async () => {
  let page = 0;
  const endless = () => ({ tools: [tool(`t${page}`)], nextCursor: String(++page) });
  const gateway = gatewayWith(scripted({ 'tools/list': endless }));
  const client = await clientOf(closers, gateway.server);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['good__work']);
  await expect.poll(() => gateway.status()[0]?.reason).toMatch(/it has more than 1000 pages$/);
});

test('a list that never comes delays no other list for long', async () => {
  const servers = [upstream('bad', { revision: '2025-06-18' }), upstream('good')];
  const gateway = createGateway(gatewayConfig(servers, { firstListMs: 50 }), {
    logger: false,
    target: ({ slug }) => (slug === 'bad' ? scripted({ 'tools/list': () => undefined }) : inMemory(good())),
  });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  await expect
    .poll(async () => (await client.listTools({ cache: 'refresh' })).map(({ name }) => name))
    .toEqual(['good__work']);
  expect(await client.callTool('good__work')).toMatchObject({ content: [{ text: 'works' }] });
});

const manyTools = isFullRun ? 20_000 : 5_000;

test(`a list of ${manyTools} tools is shown whole, in pages`, async () => {
  const tools = Array.from({ length: manyTools }, (_, n) => tool(`t${n}`));
  const gateway = gatewayWith(scripted({ 'tools/list': () => ({ tools }) }));
  const client = await clientOf(closers, gateway.server);
  expect(await client.listTools()).toHaveLength(manyTools + 1);
});

test('thousands of announced changes are a few lists', async () => {
  const requests: Fields[] = [];
  const bad = scripted(
    {
      'tools/list': () => ({ tools: [tool('flood')] }),
      'tools/call': (_params, send) => {
        for (let n = 0; n < 5_000; n++) send({ method: 'notifications/tools/list_changed' });
        return { content: [] };
      },
    },
    requests,
  );
  const gateway = gatewayWith(bad);
  // Lists that become known only after the time limit of the first list would be announced.
  const areKnown = () => gateway.exposed({ view: '' })?.tools.length === 2;
  while (!areKnown()) await gateway.readLists();
  const changes: string[] = [];
  const client = await clientOf(closers, gateway.server, { onListChanged: (kind) => changes.push(kind) });
  const listed = (): number => requests.filter(({ method }) => method === 'tools/list').length;
  const before = listed();
  await client.callTool('bad__flood');
  await expect.poll(listed).toBeGreaterThan(before);
  expect(await client.callTool('good__work')).toMatchObject({ content: [{ text: 'works' }] });
  expect(listed() - before).toBeLessThan(4);
  // The list is the same as before, so that clients are not told.
  expect(changes).toEqual([]);
});

for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
  test(`a flood of log messages does not lose the result, and the client learns of it (${revision})`, async () => {
    const sent = isFullRun ? 30_000 : 8_000;
    const data = ['short', 'x'.repeat(10_000)];
    const answers: Readonly<Record<string, Answer>> = {
      'logging/setLevel': () => ({}),
      'tools/list': () => ({ tools: [tool('flood')] }),
      'tools/call': ({ arguments: args }, send) => {
        const { n } = args as { n: number };
        const params = { level: 'info', data: data[n] };
        for (let each = 0; each < sent; each++) send({ method: 'notifications/message', params });
        return { content: [{ type: 'text', text: 'flooded' }] };
      },
    };
    const gateway = gatewayWith(scripted(answers, [], { capabilities: { tools: {}, logging: {} } }));
    const front = await serveHttp(gateway.server, { port: 0, graceMs: 100 });
    closers.push(() => front.close());
    const logged: unknown[] = [];
    const client = await connect(front.url, { revision, onLog: (message) => logged.push(message.data) });
    closers.push(() => client.close());
    await client.listTools();
    if (client.offers('logging/setLevel')) await client.setLogLevel('info');
    for (const n of [0, 1]) {
      logged.length = 0;
      const result = await client.callTool('bad__flood', { n }, { logLevel: 'info' });
      expect(result).toMatchObject({ content: [{ text: 'flooded' }] });
      await expect.poll(() => logged.at(-1)).toMatch(/^\d+ log messages of the server bad were left out/);
      const leftOut = Number.parseInt(String(logged.at(-1)), 10);
      expect(logged.length - 1 + leftOut).toBe(sent);
      expect(logged).toContain(data[n]);
    }
  });
}

test('a flood of questions is answered with errors beyond what a user could answer', async () => {
  const requests: Fields[] = [];
  const bad = scripted(
    {
      'tools/list': () => ({ tools: [tool('ask')] }),
      'tools/call': (_params, send) => {
        for (let n = 0; n < 500; n++) {
          const requestedSchema = { type: 'object', properties: {} };
          send({ id: `q${n}`, method: 'elicitation/create', params: { message: `Question ${n}`, requestedSchema } });
        }
        return undefined;
      },
    },
    requests,
  );
  const gateway = gatewayWith(bad);
  let asked = 0;
  const elicit = (): Promise<never> => {
    asked++;
    return new Promise(() => {});
  };
  const client = await clientOf(closers, gateway.server, { revision: '2025-11-25', handlers: { elicit } });
  await client.listTools();
  const stop = new AbortController();
  const call = client.callTool('bad__ask', {}, { signal: stop.signal });
  const rejected = (): number => requests.filter(({ error }) => error !== undefined).length;
  await expect.poll(rejected).toBeGreaterThanOrEqual(500 - 64);
  expect(asked).toBeLessThanOrEqual(64);
  stop.abort();
  await expect(call).rejects.toMatchObject({ code: 'cancelled' });
});

test('a server cannot ask outside of calls', async () => {
  const requests: Fields[] = [];
  const bad = scripted(
    {
      'tools/list': (_params, send) => {
        send({ id: 'q', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
        return { tools: [tool('a')] };
      },
    },
    requests,
  );
  const gateway = gatewayWith(bad);
  const sample = () => expect.unreachable('no client should be asked');
  const client = await clientOf(closers, gateway.server, { handlers: { sample } });
  await client.listTools();
  await expect.poll(() => requests.find(({ id }) => id === 'q')).toMatchObject({ error: { code: -32601 } });
});

test('progress and results for requests of others are ignored', async () => {
  const bad = scripted({
    'tools/list': () => ({ tools: [tool('a')] }),
    'tools/call': (_params, send, id) => {
      for (let other = 0; other < 50; other++) {
        if (other !== id) send({ id: other, result: { content: [{ type: 'text', text: 'forged' }] } });
        send({ method: 'notifications/progress', params: { progressToken: other + 100, progress: 1 } });
      }
      return { content: [{ type: 'text', text: 'real' }] };
    },
  });
  const gateway = gatewayWith(bad);
  const client = await clientOf(closers, gateway.server);
  const results = await Promise.all([client.callTool('bad__a'), client.callTool('good__work')]);
  expect(results).toMatchObject([{ content: [{ text: 'real' }] }, { content: [{ text: 'works' }] }]);
});

test('reserved members of a result stay at the gateway, others cross', async () => {
  const _meta = { 'io.modelcontextprotocol/related-task': { taskId: 't' }, 'x/own': 1 };
  const bad = scripted({
    'tools/list': () => ({ tools: [tool('a')] }),
    'tools/call': () => ({ content: [], _meta }),
  });
  const gateway = gatewayWith(bad);
  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    const client = await clientOf(closers, gateway.server, { revision });
    const { _meta: crossed } = await client.callTool('bad__a');
    expect(crossed).toMatchObject({ 'x/own': 1 });
    expect(crossed).not.toHaveProperty('io.modelcontextprotocol/related-task');
  }
});

test('what a client sends in _meta stays at the gateway, except the trace context', async () => {
  const requests: Fields[] = [];
  const bad = scripted(
    { 'tools/list': () => ({ tools: [tool('a')] }), 'tools/call': () => ({ content: [] }) },
    requests,
  );
  const gateway = gatewayWith(bad);
  const client = await clientOf(closers, gateway.server);
  await client.callTool('bad__a', {}, { meta: { traceparent: '00-a-b-01', secret: 'of the client' } });
  const sent = JSON.stringify(requests.find(({ method }) => method === 'tools/call'));
  expect(sent).toContain('00-a-b-01');
  expect(sent).not.toContain('of the client');
  requests.length = 0;
  await client.callTool('bad__a', {}, { meta: { tracestate: 'vendor=1', baggage: 'long'.repeat(10_000) } });
  const next = JSON.stringify(requests.find(({ method }) => method === 'tools/call'));
  expect(next).toContain('vendor=1');
  expect(next).not.toContain('long');
});

test('an upstream that keeps sending messages that are not valid is degraded; lines of text are only shown', async () => {
  const bad = scripted({
    'tools/list': () => ({ tools: [tool('print'), tool('confuse')] }),
    'tools/call': ({ name }, send) => {
      for (let n = 0; n < 10 && name === 'confuse'; n++) send({ id: 1_000_000 + n, result: {} });
      return { content: [] };
    },
  });
  const gateway = gatewayWith(bad);
  const client = await clientOf(closers, gateway.server);
  await client.listTools();
  await client.callTool('bad__print');
  expect(gateway.status()[0]).toMatchObject({ state: 'ready' });
  await client.callTool('bad__confuse');
  await expect
    .poll(() => gateway.status()[0])
    .toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('not valid'),
      invalidMessages: 10,
    });
  expect(gateway.status()[1]).toMatchObject({ slug: 'good', state: 'ready' });
});

test('hidden characters in error messages are removed, and long ones are cut', async () => {
  const messages = ['own\u202eevil\u200b', 'x'.repeat(100_000), undefined];
  const bad = scripted({
    'tools/list': () => ({ tools: [tool('work')] }),
    'tools/call': (_params, send, id) => void send({ id, error: { code: -32000, message: messages.shift() } }),
  });
  const client = await clientOf(closers, gatewayWith(bad).server);
  await client.listTools();
  await expect(client.callTool('bad__work')).rejects.toMatchObject({ serverError: { message: 'ownevil' } });
  const long = await client.callTool('bad__work').catch((error: ClientError) => error);
  expect((long as ClientError).serverError?.message?.length).toBeLessThan(5_000);
  await expect(client.callTool('bad__work')).rejects.toMatchObject({ code: 'server-error' });
});

test('results that are none count as messages that are not valid', async () => {
  const bad = scripted({
    'tools/list': () => ({ tools: [tool('work')] }),
    'tools/call': () => ({ content: ['none'] }),
  });
  const gateway = gatewayWith(bad);
  const client = await clientOf(closers, gateway.server);
  await client.listTools();
  for (let n = 0; n < 10; n++) await client.callTool('bad__work').catch(() => {});
  expect(gateway.status()[0]).toMatchObject({ state: 'degraded', invalidMessages: 10 });
});

test('the status shows how long calls take, and how many wait for a connection', async () => {
  let open: (() => void) | undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const bad = scripted({ 'tools/list': () => ({ tools: [tool('work')] }), 'tools/call': () => ({ content: [] }) });
  const slow = (): Transport => {
    const transport = bad();
    return { ...transport, open: async (listener) => opened.then(() => transport.open(listener)) };
  };
  const cache = {
    read: () => ({ lists: { ...noLists, tools: [{ name: 'work', inputSchema: {} }] }, atMs: 0 }),
    write: () => {},
  };
  const gateway = createGateway(gatewayConfig([upstream('bad', { revision: '2025-06-18' })]), {
    logger: false,
    target: () => slow,
    cache,
  });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  const call = client.callTool('bad__work');
  await expect.poll(() => gateway.status()[0]).toMatchObject({ state: 'starting', inFlight: 1, queued: 1 });
  expect(gateway.status()[0]).not.toHaveProperty('p50Ms');
  open?.();
  await call;
  const [status] = gateway.status();
  expect(status).toMatchObject({ inFlight: 0, queued: 0, p50Ms: expect.any(Number), p99Ms: expect.any(Number) });
});

test('a result with more input requests than a user could answer is not valid', async () => {
  const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  const params = { mode: 'form', message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
  const request = { method: 'elicitation/create', params };
  const bad = scripted({
    'server/discover': () => ({ ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
    'tools/list': () => ({ ...complete, tools: [tool('ask')] }),
    'tools/call': () => {
      const entries = Array.from({ length: 500 }, (_, n) => [`q${n}`, request]);
      return { resultType: 'input_required', inputRequests: Object.fromEntries(entries) };
    },
  });
  const config = gatewayConfig([upstream('bad', { revision: '2026-07-28' })]);
  const gateway = createGateway(config, { logger: false, target: () => bad });
  closers.push(() => gateway.close());
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const elicit = () => expect.unreachable('the client should not be asked');
    const client = await clientOf(closers, gateway.server, { revision, handlers: { elicit } });
    await expect(client.callTool('bad__ask')).rejects.toThrow(
      'Invalid response from bad: It has more than 64 input requests',
    );
  }
});

test('an error whose code is not an integer is an invalid answer: strict clients would not take it for a response', async () => {
  const gateway = gatewayWith(
    scripted({
      'tools/list': () => ({ tools: [tool('a')] }),
      'tools/call': (_params, send, id) => void send({ id, error: { code: 1.5, message: 'x' } }) as undefined,
    }),
  );
  const client = await clientOf(closers, gateway.server);
  await expect(client.callTool('bad__a')).rejects.toMatchObject({ serverError: { code: -32603 } });
});
