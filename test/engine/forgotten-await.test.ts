// A handler that does not await its input request: nobody handles what the request rejects with.

import { afterEach, expect, test, vi } from 'vitest';
import { connect, inMemory } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { type Context, createServer, elicit } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';

const closers = useClosers(afterEach);

const form = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));
const revisions = ['2025-06-18', '2025-11-25', '2026-07-28'];

async function callWith(revision: string, run: (ctx: Context) => unknown) {
  const warn = vi.fn();
  const server = createServer({ name: 'forgetful', version: '1.0.0', logger: { ...silentLogger, warn } });
  server.tool('order', { run: (_args, ctx) => run(ctx) as string });
  // The user takes longer than the handler.
  const client = await connect(inMemory(server), { revision, handlers: { elicit: () => new Promise(() => {}) } });
  closers.push(() => client.close());
  const { content } = await client.callTool('order');
  return { content, warnings: () => warn.mock.calls.map(([message]) => message) };
}

const done = [{ type: 'text', text: 'done' }];
const warning =
  'tools/call order: the handler returned before its input request had a response; write "await" before ctx.elicit, ' +
  'or whatever sent it';

test.each(revisions)('%s: it does not end the process, and the log says what is missing', async (revision) => {
  const { content, warnings } = await callWith(revision, (ctx) => {
    void ctx.elicit('Sure?', form);
    return 'done';
  });
  expect(content).toEqual(done);
  await vi.waitFor(() => expect(warnings()).toEqual([warning]));
});

test.each(revisions)('%s: the same for several input requests', async (revision) => {
  const { content, warnings } = await callWith(revision, (ctx) => {
    void ctx.requestInputs({ sure: elicit('Sure?', form) });
    return 'done';
  });
  expect(content).toEqual(done);
  await vi.waitFor(() => expect(warnings()).toEqual([warning]));
});

test('the same for a handler that continues for a while', async () => {
  const { content, warnings } = await callWith('2025-11-25', async (ctx) => {
    void ctx.elicit('Sure?', form);
    await pause();
    return 'done';
  });
  expect(content).toEqual(done);
  await vi.waitFor(() => expect(warnings()).toEqual([warning]));
});

test('a handler that cancels its input request, or handles that it fails, is not warned about', async () => {
  const { warnings } = await callWith('2025-11-25', async (ctx) => {
    const stop = new AbortController();
    const answer = ctx.elicit('Sure?', form, { signal: stop.signal }).catch(() => 'nobody answered');
    stop.abort();
    await answer;
    return 'done';
  });
  await pause();
  expect(warnings()).toEqual([]);
});
