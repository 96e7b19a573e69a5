// Sealed states, cursors and tokens: any flipped bit, other caller, other arguments or late arrival is rejected.

import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { createServer, type Principal, type Server } from '../../src/index.ts';

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const;

function makeServer(key = 'a key that is long enough for tests'): { server: Server; charged: string[] } {
  const charged: string[] = [];
  const server = createServer({ name: 'sealed', version: '1', key, limits: { pageSize: 2 } });
  const order = (options: { readonly singleUse?: boolean; readonly once?: boolean }) => ({
    input: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] } as const,
    singleUse: options.singleUse ?? false,
    run: async ({ item }: { item: string }, ctx: import('../../src/index.ts').Context) => {
      const price = await ctx.step('quote', () => item.length);
      const answer = await ctx.elicit('Sure?', form, { key: 'sure' });
      await ctx.step('charge', () => charged.push(item), { once: options.once ?? false });
      return `${answer.action} ${price}`;
    },
  });
  server.tool('order', order({}));
  server.tool('order_single', order({ singleUse: true }));
  server.tool('order_once', order({ once: true }));
  server.tool('other', order({}));
  server.tool('last', { run: () => 'x' });
  return { server, charged };
}

/** One request of one caller, over a channel of its own: nothing but the state connects the rounds. */
async function ask(server: Server, params: object, principal?: Principal, method = 'tools/call'): Promise<Answer> {
  return new Promise((resolve) => {
    const take = (text: string | undefined): void => {
      if (text !== undefined) resolve(JSON.parse(text) as Answer);
    };
    const peer = { transport: 'memory', ...(principal === undefined ? {} : { principal }) } as const;
    const channel = server.connect(peer, { duplex: false, push: () => true, end: take });
    channel.receive({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
  });
}

interface Answer {
  readonly result?: {
    readonly resultType: string;
    readonly requestState?: string;
    readonly nextCursor?: string;
    readonly content?: { text: string }[];
  };
  readonly error?: { readonly code: number; readonly message: string };
}

const accepted = { sure: { action: 'accept', content: { ok: true } } };
const call = (name = 'order', item = 'tea') => ({ name, arguments: { item } });

async function firstRound(server: Server, params = call(), principal?: Principal): Promise<string> {
  const { result } = await ask(server, params, principal);
  expect(result?.resultType).toBe('input_required');
  return result?.requestState as string;
}

afterEach(() => void vi.useRealTimers());

test('the untouched state continues the call, also in another process with the same key', async () => {
  const state = await firstRound(makeServer().server);
  const { result } = await ask(makeServer().server, { ...call(), requestState: state, inputResponses: accepted });
  expect(result?.content?.[0]?.text).toBe('accept 3');
});

test('any flipped bit of a state is rejected', async () => {
  const { server, charged } = makeServer();
  const state = await firstRound(server);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  await fc.assert(
    fc.asyncProperty(fc.nat(state.length - 1), fc.nat(5), async (at, bit) => {
      const flipped = alphabet[alphabet.indexOf(state[at] as string) ^ (1 << bit)];
      const forged = state.slice(0, at) + flipped + state.slice(at + 1);
      const { error } = await ask(server, { ...call(), requestState: forged, inputResponses: accepted });
      expect(error?.code).toBe(-32602);
    }),
    { numRuns: 400 },
  );
  expect(charged).toEqual([]);
});

test('a state with anything added, cut off or respelled is rejected', async () => {
  const { server } = makeServer();
  const state = await firstRound(server);
  for (const forged of [
    `${state}A`,
    `${state}=`,
    `${state}-TAMPERED`,
    ` ${state}`,
    state.slice(1),
    state.slice(0, -1),
    '',
    'null',
  ]) {
    const { error } = await ask(server, { ...call(), requestState: forged, inputResponses: accepted });
    expect(error?.code, forged).toBe(-32602);
  }
  for (const forged of [7, null, {}, [state]]) {
    expect((await ask(server, { ...call(), requestState: forged })).error?.code).toBe(-32602);
  }
});

test('a state is useless to another caller, for other arguments and for another tool', async () => {
  const { server } = makeServer();
  const ada = { id: 'ada' };
  const state = await firstRound(server, call(), ada);
  const retry = { requestState: state, inputResponses: accepted };
  expect((await ask(server, { ...call(), ...retry }, { id: 'bob' })).error?.code).toBe(-32602);
  expect((await ask(server, { ...call(), ...retry }, { id: 'ada', issuer: 'elsewhere' })).error?.code).toBe(-32602);
  expect((await ask(server, { ...call(), ...retry })).error?.code).toBe(-32602);
  expect((await ask(server, { ...call('order', 'gin'), ...retry }, ada)).error?.code).toBe(-32602);
  expect((await ask(server, { ...call('other'), ...retry }, ada)).error?.code).toBe(-32602);
  expect(
    (await ask(makeServer('another key, also long enough for tests').server, { ...call(), ...retry }, ada)).error?.code,
  ).toBe(-32602);
  expect((await ask(server, { ...call(), ...retry }, ada)).result?.resultType).toBe('complete');
});

test('a state expires', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { server } = makeServer();
  const state = await firstRound(server);
  vi.setSystemTime(Date.now() + 10 * 60_000 + 1);
  const { error } = await ask(server, { ...call(), requestState: state, inputResponses: accepted });
  expect(error?.message).toContain('expired');
});

test('a single-use tool takes its state once; a step marked once happens once', async () => {
  const { server, charged } = makeServer();
  for (const name of ['order_single', 'order_once']) {
    const state = await firstRound(server, call(name));
    const retry = { ...call(name), requestState: state, inputResponses: accepted };
    expect((await ask(server, retry)).result?.resultType).toBe('complete');
    expect((await ask(server, retry)).error?.code).toBe(-32602);
  }
  expect(charged).toEqual(['tea', 'tea']);
});

test('a cursor is rejected when forged, of another list or of another caller', async () => {
  const { server } = makeServer();
  const ada = { id: 'ada' };
  const { result } = await ask(server, {}, ada, 'tools/list');
  const cursor = result?.nextCursor as string;
  expect((await ask(server, { cursor }, ada, 'tools/list')).result?.nextCursor).toBeDefined();
  expect((await ask(server, { cursor }, { id: 'bob' }, 'tools/list')).error?.code).toBe(-32602);
  server.prompt('p', { get: () => 'p' });
  expect((await ask(server, { cursor }, ada, 'prompts/list')).error?.code).toBe(-32602);
  expect((await ask(server, { cursor: `${cursor}A` }, ada, 'tools/list')).error?.code).toBe(-32602);
});

test('walking the pages yields every item exactly once, in order', async () => {
  const { server } = makeServer();
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const { result } = await ask(server, cursor === undefined ? {} : { cursor }, undefined, 'tools/list');
    names.push(...(result as unknown as { tools: { name: string }[] }).tools.map((each) => each.name));
    cursor = result?.nextCursor;
  } while (cursor !== undefined);
  expect(names).toEqual(['order', 'order_single', 'order_once', 'other', 'last']);
});
