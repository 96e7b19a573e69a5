// Whatever arrives, in whatever order: no crash, no hang, one answer per id, and nothing a revision does not define.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../support/full.ts';
import { validateMessage } from '../support/validate-message.ts';
import { transcriptServer } from '../transcripts/server.ts';

const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;
const methods = [
  'initialize', 'ping', 'server/discover', 'tools/list', 'tools/call', 'resources/list', 'resources/templates/list',
  'resources/read', 'resources/subscribe', 'resources/unsubscribe', 'prompts/list', 'prompts/get',
  'completion/complete', 'logging/setLevel', 'tasks/get', '__proto__', 'constructor', '',
] as const; // biome-ignore format: a table

/** Params that are right, nearly right, and wrong. */
const params = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    {},
    { name: 'add', arguments: { a: 1, b: 2 } },
    { name: 'add', arguments: { a: 'x' } },
    { name: 'fail' },
    { name: 'media' },
    { name: 'names' },
    { name: 'count', _meta: { progressToken: 'p' } },
    { name: 'ask_name' },
    { name: 'ask_twice', inputResponses: { first: { action: 'accept', content: { x: '1' } } } },
    { name: 'ask_model', inputResponses: 7 },
    { name: 'ask_roots', requestState: 'AAAA' },
    { name: 'greet', arguments: { name: 'Ada' } },
    { uri: 'memo://one' },
    { uri: 'memo://page/3' },
    { uri: 'memo://page/%' },
    { uri: '' },
    { cursor: 'x' },
    { cursor: '' },
    { level: 'debug' },
    { level: 'toString' },
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'style', value: 'c' } },
    { ref: null, argument: [] },
    {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      clientInfo: { name: 'x', version: '1' },
    },
    { __proto__: { name: 'add' } },
  ),
  fc.dictionary(
    fc.constantFrom('name', 'uri', 'arguments', 'cursor', '_meta', 'level', '__proto__', 'constructor'),
    fc.jsonValue({ maxDepth: 3 }),
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {} },
};

const request = fc
  .record({ method: fc.constantFrom(...methods), params, stateless: fc.boolean() })
  .map(({ method, params: given, stateless }) => {
    const filled =
      stateless && (given === undefined || isRecord(given))
        ? { ...(given as object), _meta: { ...metaOf(given), progressToken: 'alone', ...envelope } }
        : given;
    return { jsonrpc: '2.0', method, ...(filled === undefined ? {} : { params: filled }) };
  });

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, [], [[]], {}, { jsonrpc: '2.0' }, { jsonrpc: '1.0', id: 'old', method: 'ping' }),
  fc.record(
    { jsonrpc: fc.constant('2.0'), id: fc.oneof(fc.double(), fc.jsonValue()), method: fc.jsonValue() },
    { requiredKeys: [] },
  ),
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.string(), result: fc.jsonValue() }),
  fc.record({
    jsonrpc: fc.constant('2.0'),
    method: fc.constantFrom('notifications/cancelled', 'notifications/initialized', 'notifications/roots/list_changed'),
    params: fc.jsonValue(),
  }),
);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function metaOf(value: unknown): object {
  const meta = isRecord(value) ? value['_meta'] : undefined;
  return isRecord(meta) ? meta : {};
}

/** Whether it asks for something that has a name, be it meant as a request or hit upon by chance. */
function isAsked(item: unknown): item is Record<string, unknown> {
  return isRecord(item) && methods.includes(item['method'] as never);
}

/** What asks gets an id by its place; what does not never bears such an id, not even by chance. */
function named(item: unknown, place: number): unknown {
  if (isAsked(item)) return { ...item, id: `r${place}` };
  return isRecord(item) && /^r\d+$/.test(String(item['id'])) ? { ...item, id: `not-${String(item['id'])}` } : item;
}

interface Played {
  readonly answers: Map<unknown, number>;
  readonly findings: string[];
}

/** Plays messages on one channel, then closes it down and collects what came back. */
async function playAll(revision: string, messages: readonly unknown[]): Promise<Played> {
  const answers = new Map<unknown, number>();
  const findings: string[] = [];
  const asked = new Map<unknown, { method: string }>();
  // Before any initialize, a request without an envelope is answered in the oldest words.
  let spoken = revision === '2026-07-28' ? '2024-11-05' : revision;
  const take = (text: string | undefined): boolean => {
    if (text === undefined) return true;
    for (const each of [JSON.parse(text)].flat() as { id?: unknown; method?: string; result?: object }[]) {
      if (each.method === undefined) answers.set(each.id, (answers.get(each.id) ?? 0) + 1);
      const about = asked.get(each.id);
      // An initialize on the way settles what the session speaks from there on.
      const { protocolVersion } = (each.result ?? {}) as { protocolVersion?: string };
      spoken = protocolVersion ?? spoken;
      const standsAlone =
        (each.result !== undefined && 'resultType' in each.result) || text.includes('"progressToken":"alone"');
      const speaks = standsAlone ? '2026-07-28' : spoken;
      // A server request carries an id of its own; it is validated by its method.
      findings.push(
        ...validateMessage(
          speaks,
          each as { [key: string]: unknown },
          each.method === undefined ? about?.method : undefined,
        ),
      );
    }
    return true;
  };
  const channel = transcriptServer().connect(
    { transport: 'memory' },
    { duplex: true, push: take, end: (text) => void take(text) },
  );
  if (revision !== '2026-07-28') {
    asked.set('hello', { method: 'initialize' });
    const hello = {
      protocolVersion: revision,
      capabilities: { elicitation: {}, roots: {} },
      clientInfo: { name: 'p', version: '1' },
    };
    channel.receiveText(JSON.stringify({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params: hello }));
    channel.receiveText('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  }
  for (const message of messages) {
    if (isRecord(message) && typeof message['method'] === 'string') {
      asked.set(message['id'], { method: message['method'] });
    }
    channel.receiveText(JSON.stringify(message) ?? 'undefined');
  }
  await channel.drain(50);
  return { answers, findings };
}

test('a response is never answered, whatever its id and its result', async () => {
  for (const result of [false, null, [], {}]) {
    const { answers } = await playAll('2026-07-28', [{ jsonrpc: '2.0', id: 'r0', result }]);
    expect(answers.size).toBe(0);
  }
});

for (const revision of revisions) {
  test(`${revision}: every request is answered exactly once, whatever surrounds it`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ arbitrary: request, weight: 3 }, { arbitrary: junk, weight: 1 }), { maxLength: 12 }),
        async (items) => {
          const { answers, findings } = await playAll(revision, items.map(named));
          expect(findings).toEqual([]);
          items.forEach((item, i) => {
            if (isAsked(item)) expect(answers.get(`r${i}`), `answers to ${JSON.stringify(item)}`).toBe(1);
          });
        },
      ),
      propertyRuns(60, 500),
    );
  });
}

test('text that was mutated byte by byte never goes unanswered and never breaks the channel', async () => {
  const base = JSON.stringify({
    jsonrpc: '2.0',
    id: 'm',
    method: 'tools/call',
    params: { name: 'add', arguments: { a: 1, b: 2 } },
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(
          fc.nat(base.length - 1),
          fc.constantFrom('"', '{', '}', '[', ']', ',', ':', '0', 'x', '\\', '\u0000', ''),
        ),
        { maxLength: 4 },
      ),
      async (edits) => {
        const characters = [...base];
        for (const [at, to] of edits) characters[at] = to;
        const received: string[] = [];
        const take = (text: string | undefined): boolean => {
          if (text !== undefined) received.push(text);
          return true;
        };
        const channel = transcriptServer().connect(
          { transport: 'memory' },
          { duplex: true, push: take, end: (text) => void take(text) },
        );
        channel.receiveText('{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}');
        channel.receiveText(characters.join(''));
        channel.receiveText('{"jsonrpc":"2.0","id":"after","method":"ping"}');
        await channel.drain(20);
        expect(JSON.parse(received.at(-1) as string)).toEqual({ jsonrpc: '2.0', id: 'after', result: {} });
        expect(received.length).toBeLessThanOrEqual(3);
      },
    ),
    propertyRuns(150, 1_000),
  );
});
