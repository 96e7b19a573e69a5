// A single-use state of a call must stay used: not forgotten for others that were used later, not brought back by a clock
// that jumps. Beyond what is remembered, calls of the caller that used so many wait.

import { afterEach, expect, test, vi } from 'vitest';
import { type Authenticate, createServer } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import type { Message } from '../support/http-client.ts';

const closers = useClosers(afterEach);
afterEach(() => void vi.restoreAllMocks());

const byName: Authenticate = (request) => {
  const name = /^Bearer (\w+)$/.exec(request.get('authorization') ?? '')?.[1];
  return name === undefined ? undefined : { id: name };
};
const form = { type: 'object', properties: { ok: { type: 'boolean' } } } as const;
const inputResponses = { sure: { action: 'accept', content: { ok: true } } };
const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };

async function start(limits: object = {}) {
  const charged: string[] = [];
  const server = createServer({ name: 'orders', version: '1.0.0', limits });
  server.tool('order', {
    singleUse: true,
    run: async (_args: unknown, ctx) => {
      await ctx.elicit('Sure?', form, { key: 'sure' });
      charged.push('tea');
      return 'ordered';
    },
  });
  const { client } = await startHttp(closers, server, { authenticate: byName });
  const call = async (who: string, more: object = {}) => {
    const headers = { Authorization: `Bearer ${who}` };
    const {
      status,
      headers: answered,
      json,
      events,
    } = await client.modern('tools/call', { name: 'order', ...more }, { meta, headers });
    const message: Message = json ?? JSON.parse(events.at(-1)?.data ?? 'null');
    return { status, retryAfter: answered['retry-after'], message };
  };
  const newState = async (who: string): Promise<string> => String((await call(who)).message.result?.['requestState']);
  const use = (who: string, requestState: string) => call(who, { requestState, inputResponses });
  return { newState, use, charged };
}

test('a caller that used as many states as are remembered waits, nothing it used works again, others go on', async () => {
  const { newState, use, charged } = await start({ maxUsedStates: 4, maxUsedStatesPerCaller: 2 });
  const states = [await newState('mallory'), await newState('mallory'), await newState('mallory')];
  for (const state of states.slice(0, 2)) expect((await use('mallory', state)).message.result).toBeDefined();
  const rejected = await use('mallory', states[2] as string);
  expect([rejected.status, rejected.message.error?.code]).toEqual([503, 503]);
  expect(Number(rejected.retryAfter)).toBeGreaterThan(60);
  expect(charged).toHaveLength(2);
  expect((await use('alice', await newState('alice'))).message.result).toBeDefined();
  for (const state of states.slice(0, 2)) expect((await use('mallory', state)).message.error).toBeDefined();
  expect(charged).toHaveLength(3);
});

test.each([11, -11, 500_000])(
  'a used state stays used when the clock jumps by %i minutes and back',
  async (minutes) => {
    let aheadMs = 0;
    const realNow = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs);
    const { newState, use, charged } = await start();
    const state = await newState('mallory');
    expect((await use('mallory', state)).message.result).toBeDefined();
    aheadMs = minutes * 60_000;
    await use('mallory', state);
    await use('mallory', await newState('mallory'));
    aheadMs = 0;
    expect((await use('mallory', state)).message.error?.message).toContain('used before');
    expect(charged).toHaveLength(2);
  },
);

test('a state that is used while the clock is behind cannot be used again when it is right', async () => {
  let aheadMs = 0;
  const realNow = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs);
  const { newState, use, charged } = await start();
  const state = await newState('mallory');
  aheadMs = -60 * 60_000;
  expect((await use('mallory', state)).message.result).toBeDefined();
  // Followed by the store at once, since it does not take the mark away.
  aheadMs = -30 * 60_000;
  expect((await use('mallory', state)).message.error).toBeDefined();
  aheadMs = 0;
  expect((await use('mallory', state)).message.error).toBeDefined();
  expect(charged).toHaveLength(1);
});
