// Streams that are disconnected and resumed: nothing is lost, nothing is sent twice, and no client gets events of another.

import { beforeAll, describe, expect, test } from 'vitest';
import { createServer, type HttpOptions, type Server } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { both, EventReader, type HttpTestClient } from '../support/http-client.ts';

const closers = useClosers();
/** Lets a tool go on, step by step. */
const gates = new Map<string, () => void>();
let server: Server;
let client: HttpTestClient;

function gate(name: string): Promise<void> {
  return new Promise((resolve) => gates.set(name, resolve));
}

async function pass(name: string): Promise<void> {
  await expect.poll(() => gates.has(name)).toBe(true);
  gates.get(name)?.();
  gates.delete(name);
}

async function start(options: HttpOptions = {}) {
  const made = createServer({ name: 'resumption', version: '1.0.0' });
  const input = { type: 'object', properties: { name: { type: 'string' } } } as const;
  made.tool('steps', {
    description: 'Reports progress whenever it may',
    input,
    run: async ({ name }: { name?: string }, ctx) => {
      for (let n = 1; n <= 4; n++) {
        await ctx.progress(n, 4);
        await gate(`${name} ${n}`);
      }
      return 'done';
    },
  });
  made.tool('poll', {
    description: 'Lets its client go in the meantime',
    input,
    run: async ({ name }: { name?: string }, ctx) => {
      const closed = ctx.closeStream(50);
      await gate(`${name}`);
      return `closed: ${closed}`;
    },
  });
  made.tool('ask', {
    description: 'Asks the user',
    run: async (_args: unknown, ctx) => {
      const answer = await ctx.elicit('Who?', { type: 'object', properties: { name: { type: 'string' } } });
      return JSON.stringify(answer.content);
    },
  });
  made.resource('test://watched', { name: 'watched', read: () => 'now' });
  const { client: tester } = await startHttp(closers, made, options);
  return { server: made, client: tester };
}

beforeAll(async () => {
  ({ server, client } = await start());
});

async function post(tester: HttpTestClient, session: string, id: number, params: object): Promise<EventReader> {
  const body = { jsonrpc: '2.0', id, method: 'tools/call', params };
  return new EventReader(await tester.open({ body, headers: { Accept: both, 'Mcp-Session-Id': session } }));
}

async function get(tester: HttpTestClient, session: string, last?: string): Promise<EventReader> {
  const headers = {
    Accept: 'text/event-stream',
    'Mcp-Session-Id': session,
    ...(last === undefined ? {} : { 'Last-Event-ID': last }),
  };
  return new EventReader(await tester.open({ method: 'GET', headers }));
}

const lastId = (stream: EventReader): string => stream.events.findLast(({ id }) => id !== undefined)?.id ?? '';
const progress = (messages: readonly { params?: Record<string, unknown> }[]): unknown[] =>
  messages.filter(({ params }) => params?.['progress'] !== undefined).map(({ params }) => params?.['progress']);
const steps = (name: string) => ({ name: 'steps', arguments: { name }, _meta: { progressToken: name } });

describe('the stream of a call', () => {
  test.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    '%s: disconnected in the middle, it continues where it stopped',
    async (version) => {
      const session = await client.initialize({ version });
      const name = `middle ${version}`;
      const broken = await post(client, session, 1, steps(name));
      await broken.until(1);
      await pass(`${name} 1`);
      await broken.until(2);
      broken.cut();
      await pass(`${name} 2`);
      await expect.poll(() => gates.has(`${name} 3`)).toBe(true);
      const resumed = await get(client, session, lastId(broken));
      await resumed.until(1);
      await pass(`${name} 3`);
      await pass(`${name} 4`);
      const rest = await resumed.end();
      expect(progress([...broken.messages, ...rest])).toEqual([1, 2, 3, 4]);
      expect(rest.filter(({ result }) => result !== undefined)).toHaveLength(1);
      expect(rest.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
      const ids = [...broken.events, ...resumed.events].map(({ id }) => id).filter((id) => id !== undefined);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  test('only revisions that support it get an event that is only an id', async () => {
    for (const [version, primed] of [
      ['2025-06-18', false],
      ['2025-11-25', true],
    ] as const) {
      const session = await client.initialize({ version });
      const name = `primed ${version}`;
      const stream = await post(client, session, 1, steps(name));
      await stream.until(1);
      expect(stream.events[0]?.data === '' && stream.events[0].id !== undefined).toBe(primed);
      stream.cut();
      for (let n = 1; n <= 4; n++) await pass(`${name} ${n}`);
    }
  });

  test('disconnected repeatedly, each event is received once', async () => {
    const session = await client.initialize();
    const first = await post(client, session, 1, steps('again'));
    const heard = [...(await first.until(1))];
    let last = lastId(first);
    first.cut();
    for (let n = 1; n <= 3; n++) {
      await pass(`again ${n}`);
      const next = await get(client, session, last);
      heard.push(...(await next.until(1)));
      last = lastId(next);
      next.cut();
    }
    await pass('again 4');
    heard.push(...(await (await get(client, session, last)).end()));
    expect(progress(heard)).toEqual([1, 2, 3, 4]);
    expect(heard.at(-1)?.result).toBeDefined();
  });

  test('a call that has ended meanwhile is replayed to its end', async () => {
    const session = await client.initialize();
    const broken = await post(client, session, 5, steps('ended'));
    await broken.until(1);
    broken.cut();
    for (let n = 1; n <= 4; n++) await pass(`ended ${n}`);
    const messages = await (await get(client, session, lastId(broken))).end();
    expect(progress(messages)).toEqual([2, 3, 4]);
    expect(messages.at(-1)).toMatchObject({ id: 5 });
  });

  test('resuming does not affect the standalone stream, and vice versa', async () => {
    const session = await client.initialize();
    const standing = await get(client, session);
    const broken = await post(client, session, 6, steps('standing'));
    await broken.until(1);
    broken.cut();
    const resumed = await get(client, session, lastId(broken));
    for (let n = 1; n <= 4; n++) await pass(`standing ${n}`);
    expect(progress(await resumed.end())).toEqual([2, 3, 4]);
    expect([standing.ended, standing.messages]).toEqual([false, []]);
    standing.cut();
  });

  test('an event id is valid only in its own session', async () => {
    const session = await client.initialize();
    const other = await client.initialize();
    const stream = await post(client, session, 7, steps('own'));
    await stream.until(1);
    const stolen = await client.send({
      method: 'GET',
      headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': other, 'Last-Event-ID': lastId(stream) },
    });
    expect([stolen.status, stolen.json.error?.code]).toEqual([400, -32000]);
    for (const wrong of [lastId(stream).replace(/\.\d+$/, '.99'), lastId(stream).replace(/-.*\./, '-zzz.')]) {
      expect(
        (
          await client.send({
            method: 'GET',
            headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': session, 'Last-Event-ID': wrong },
          })
        ).status,
      ).toBe(400);
    }
    for (let n = 1; n <= 4; n++) await pass(`own ${n}`);
    expect(progress(await stream.end())).toEqual([1, 2, 3, 4]);
  });

  test('an input request sent before the disconnect can still be answered', async () => {
    const session = await client.initialize({ capabilities: { elicitation: {} } });
    const broken = await post(client, session, 8, { name: 'ask' });
    const [question] = await broken.until(1);
    broken.cut();
    const resumed = await get(client, session, lastId(broken));
    const reply = { jsonrpc: '2.0', id: question?.id, result: { action: 'accept', content: { name: 'Ada' } } };
    await client.send({ body: reply, headers: { Accept: both, 'Mcp-Session-Id': session } });
    expect((await resumed.end()).at(-1)).toMatchObject({ id: 8, result: { content: [{ text: '{"name":"Ada"}' }] } });
  });
});

describe('a stream that the server closes early', () => {
  test('the client is told when to reconnect and then gets the response', async () => {
    const session = await client.initialize();
    const stream = await post(client, session, 1, { name: 'poll', arguments: { name: 'polled' } });
    await stream.end();
    expect(stream.messages).toEqual([]);
    expect(stream.events.some(({ id, data }) => id !== undefined && data === '')).toBe(true);
    expect(stream.events.some(({ retry }) => retry === '50')).toBe(true);
    const back = await get(client, session, lastId(stream));
    await pass('polled');
    expect((await back.end()).at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'closed: true' }] } });
  });

  test('where the revision does not support it, nothing is closed', async () => {
    const session = await client.initialize({ version: '2025-06-18' });
    const answer = client.session(session, 'tools/call', { name: 'poll', arguments: { name: 'older' } });
    await pass('older');
    expect((await answer).text).toContain('closed: false');
  });
});

describe('the standalone stream', () => {
  test('events sent before a disconnect was noticed are sent again with Last-Event-ID', async () => {
    const session = await client.initialize();
    await client.session(session, 'resources/subscribe', { uri: 'test://watched' });
    const first = await get(client, session);
    server.resourceUpdated('test://watched');
    await first.until(1);
    const seen = lastId(first);
    server.resourceUpdated('test://watched');
    await first.until(2);
    first.cut();
    // As if the second event had been lost on its way.
    const second = await get(client, session, seen);
    await second.until(1);
    server.resourceUpdated('test://watched');
    expect(await second.until(2)).toHaveLength(2);
    second.cut();
  });

  test('an unknown event id opens a new stream', async () => {
    const session = await client.initialize();
    await client.session(session, 'resources/subscribe', { uri: 'test://watched' });
    const stream = await get(client, session, 's00000000-0.5');
    expect(stream.response.statusCode).toBe(200);
    server.resourceUpdated('test://watched');
    expect(await stream.until(1)).toHaveLength(1);
    stream.cut();
  });
});

describe('without an event log', () => {
  test('events have no ids, Last-Event-ID is ignored, and a pending input request fails with its connection', async () => {
    const { client: plain } = await start({ eventLog: false });
    const session = await plain.initialize({ capabilities: { elicitation: {} } });
    const stream = await post(plain, session, 1, steps('plain'));
    await stream.until(1);
    expect(stream.events.every(({ id }) => id === undefined)).toBe(true);
    for (let n = 1; n <= 4; n++) await pass(`plain ${n}`);
    const ignored = await get(plain, session, 'p00000000-0.1');
    expect(ignored.response.statusCode).toBe(200);
    ignored.cut();
    const asked = await post(plain, session, 2, { name: 'ask' });
    await asked.until(1);
    asked.cut();
    // The id is free again once the call has ended.
    await expect
      .poll(async () => (await plain.session(session, 'tools/call', { name: 'nope' }, { id: 2 })).json?.error?.code)
      .toBe(-32602);
  });
});
