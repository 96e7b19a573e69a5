// The harness is tested first: a bridge that loses messages, a pin that does not hold or an outcome that overlooks a failure would make every
// other test here worthless. Runs against a server of a few lines in memory, without the suite.
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bridge, type OpenPipe, startBridge } from './bridge.ts';
import { readEvents, type StreamEvent } from './event-stream.ts';
import { complaints, without } from './outcome.ts';
import { startPinProxy } from './pin-proxy.ts';
import type { Check, SuiteRun } from './run-suite.ts';
import { startStdioBridge } from './stdio-bridge.ts';
import { isRequest, type Message, metaKeys } from './wire.ts';

// Answers what the bridge must route: echoes, an interim log, a question to the client, progress, a subscription.
const toyServer: OpenPipe = async (events) => {
  let asking: Message | undefined;
  const answer = (to: Message, result: object) => events.message({ jsonrpc: '2.0', id: to.id, result: { ...result } });
  const notify = (method: string, params: object) => events.message({ jsonrpc: '2.0', method, params: { ...params } });
  return {
    close: async () => {},
    send: (message) => {
      const token = message.params?._meta?.progressToken;
      if (message.method === 'ask') {
        asking = message;
        events.message({ jsonrpc: '2.0', id: 'q1', method: 'roots/list' });
      } else if (message.id === 'q1' && asking) answer(asking, { answered: message.result });
      else if (message.method === 'log') {
        notify('notifications/message', { level: 'info', data: 'hello' });
        answer(message, {});
      } else if (message.method === 'change') notify('notifications/tools/list_changed', {});
      else if (message.method === 'slow') {
        notify('notifications/progress', { progressToken: token, progress: 1 });
        answer(message, { id: message.id });
      } else if (message.method === 'subscriptions/listen') {
        notify('notifications/subscriptions/acknowledged', { _meta: { [metaKeys.subscriptionId]: message.id } });
      } else if (message.method === 'reject') {
        events.message({
          jsonrpc: '2.0',
          id: message.id,
          error: { code: Number(message.params?.code), message: 'no' },
        });
      } else if (isRequest(message)) answer(message, { params: message.params });
    },
  };
};

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge(toyServer);
});
afterAll(() => bridge.close());

const post = (message: object, headers: Record<string, string> = {}, url = bridge.url) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });

const initialize = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } };

async function openSession(): Promise<Record<string, string>> {
  const response = await post(initialize);
  await response.json();
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

async function messages(response: Response): Promise<Message[]> {
  const events: StreamEvent[] = [];
  for await (const event of readEvents(response.body as ReadableStream<Uint8Array>)) events.push(event);
  return events.map((event) => JSON.parse(event.data) as Message);
}

describe('a session of the handshake era', () => {
  test('answers a plain request with JSON under its own id', async () => {
    const response = await post({ id: 7, method: 'echo', params: { a: 1 } }, await openSession());
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 7, result: { params: { a: 1 } } });
  });

  test('puts logs, progress and questions on the stream of the waiting request', async () => {
    const session = await openSession();
    const logged = await messages(await post({ id: 1, method: 'log' }, session));
    expect(logged.map(({ method, id }) => method ?? id)).toEqual(['notifications/message', 1]);
    const slow = { id: 2, method: 'slow', params: { _meta: { progressToken: 't' } } };
    const progressed = await messages(await post(slow, session));
    expect(progressed.map(({ params, id }) => params?.progressToken ?? id)).toEqual(['t', 2]);

    const asked = await post({ id: 3, method: 'ask' }, session);
    const reply = await post({ id: 'q1', result: { roots: [] } }, session);
    expect(reply.status).toBe(202);
    expect((await messages(asked)).at(-1)?.result).toEqual({ answered: { roots: [] } });
  });

  test('keeps a change that no request caused for the GET stream', async () => {
    const session = await openSession();
    await post({ method: 'change' }, session);
    const abort = new AbortController();
    const stream = await fetch(bridge.url, { headers: session, signal: abort.signal });
    const { value } = await readEvents(stream.body as ReadableStream<Uint8Array>).next();
    expect(JSON.parse((value as StreamEvent).data)).toMatchObject({ method: 'notifications/tools/list_changed' });
    abort.abort();
  });

  test('is gone after DELETE', async () => {
    const session = await openSession();
    expect((await fetch(bridge.url, { method: 'DELETE', headers: session })).status).toBe(200);
    expect((await post({ id: 1, method: 'echo' }, session)).status).toBe(404);
  });

  test('is rejected for another Host or Origin', async () => {
    expect((await post(initialize, { origin: 'http://evil.example.com' })).status).toBe(403);
    const status = await new Promise((done) => {
      const headers = { host: 'evil.example.com', 'content-type': 'application/json' };
      const request = httpRequest(bridge.url, { method: 'POST', headers }, (response) => done(response.statusCode));
      request.end(JSON.stringify({ jsonrpc: '2.0', ...initialize }));
    });
    expect(status).toBe(403);
  });
});

describe('a request of the stateless wire', () => {
  const meta = { [metaKeys.protocolVersion]: '2026-07-28', [metaKeys.clientCapabilities]: {} };

  test('keeps its id and progress token although all requests share one pipe', async () => {
    const slow = { id: 5, method: 'slow', params: { _meta: { ...meta, progressToken: 'same' } } };
    const responses = await Promise.all([post(slow), post(slow)]);
    for (const response of responses) {
      const [progress, answer] = await messages(response);
      expect(progress?.params?.progressToken).toBe('same');
      expect(answer?.id).toBe(5);
    }
  });

  test('gets its subscription id back in the type it was sent in', async () => {
    const abort = new AbortController();
    const body = { jsonrpc: '2.0', id: 12, method: 'subscriptions/listen', params: { _meta: meta } };
    const response = await fetch(bridge.url, { method: 'POST', body: JSON.stringify(body), signal: abort.signal });
    const { value } = await readEvents(response.body as ReadableStream<Uint8Array>).next();
    expect(JSON.parse((value as StreamEvent).data).params._meta).toEqual({ [metaKeys.subscriptionId]: 12 });
    abort.abort();
  });

  test.each([
    [-32601, 404],
    [-32022, 400],
    [-32021, 400],
    [-32602, 200],
    [-32603, 200],
  ])('turns error %i into status %i', async (code, status) => {
    const response = await post({ id: 1, method: 'reject', params: { code, _meta: meta } });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ id: 1, error: { code } });
  });

  test('is a bad request when it is the envelope that is invalid', async () => {
    const rejected = { id: 1, method: 'reject', params: { code: -32602 } };
    expect((await post(rejected, { 'mcp-protocol-version': '2026-07-28' })).status).toBe(400);
  });
});

test('the pin proxy rewrites the version in initialize and nothing else', async () => {
  const proxy = await startPinProxy(bridge.url, '2024-11-05');
  const response = await post(initialize, {}, proxy.url);
  expect(await response.json()).toMatchObject({ result: { params: { protocolVersion: '2024-11-05' } } });
  const session = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
  const echo = { id: 1, method: 'echo', params: { protocolVersion: 'mine' } };
  expect(await (await post(echo, session, proxy.url)).json()).toMatchObject({ result: { params: echo.params } });
  await proxy.close();
});

describe('the outcome', () => {
  const run = (scenarios: Record<string, Check[]>): SuiteRun => ({
    scenarios: new Map(Object.entries(scenarios)),
    output: '',
  });
  const failed: Check = { id: 'c', status: 'FAILURE', errorMessage: 'why' };

  test('names scenario, check and message of everything that did not succeed', () => {
    const skipped: Check = { id: 'd', status: 'SKIPPED', errorMessage: 'absent' };
    const seen = run({ a: [{ id: 'b', status: 'SUCCESS' }], s: [failed, skipped] });
    expect(complaints(seen)).toEqual(['s / c FAILURE: why', 's / d SKIPPED: absent']);
  });

  test('complains of a scenario that checked nothing', () => {
    expect(complaints(run({ s: [{ id: 'i', status: 'INFO', description: 'not applicable' }] }))).toEqual([
      's / nothing-checked SKIPPED: i: not applicable',
    ]);
  });

  test('takes an allowance while it is needed, and complains of it afterwards', () => {
    const allowance = { scenario: 's', check: 'c', reason: 'known' };
    expect(complaints(run({ s: [failed] }), [allowance])).toEqual([]);
    expect(complaints(run({ s: [{ id: 'c', status: 'SUCCESS' }] }), [allowance])).toEqual([
      's / c: the allowance is no longer needed',
    ]);
  });

  test('rejects to exclude a scenario that does not exist', () => {
    expect(() => without(run({ s: [] }), ['t'])).toThrow('no scenario t');
  });
});

test('a server that dies at once is reported with what it said', async () => {
  const dying = await startStdioBridge([process.execPath, '-e', 'console.error("no such profile"); process.exit(3)']);
  const response = await post(initialize, {}, dying.url);
  expect(response.status).toBe(502);
  expect(await response.text()).toMatch(/exited \(3\).*no such profile/);
  await dying.close();
});
