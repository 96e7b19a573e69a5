import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import type { Middleware, Observer, RequestEnd, RequestInfo } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { AuditOptions } from './contract.ts';
import { LogFile } from './file.ts';
import { openAuditLog } from './log.ts';
import { queryAudit } from './query.ts';

let directory = '';
beforeEach(() => {
  directory = temporaryFolder();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A log on a server that is nothing but its middleware and its observer. */
async function openOn(options: Partial<AuditOptions>) {
  const log = await openAuditLog({ directory, ...options });
  let middleware: Middleware = (_request, next) => next();
  let observer: Observer = {};
  log.install({
    around: (added: Middleware) => void (middleware = added),
    observe: (added: Observer) => void (observer = added),
  } as unknown as Server);
  const call = async (n: number, run: () => unknown, method = 'tools/call', more = {}): Promise<unknown> => {
    const params = { arguments: { n, ...more } };
    const request = { method, name: 'count', params, peer: { transport: 'memory' }, startedAtMs: performance.now() };
    const end = (outcome: RequestEnd['outcome']): void =>
      observer.ended?.({ request: request as unknown as RequestInfo, outcome, durationMs: 0, endedAtMs: 0 });
    try {
      const result = await middleware(request as unknown as RequestInfo, run);
      end('ok');
      return result;
    } catch (error) {
      end('rejected');
      return (error as Error).message;
    }
  };
  return { log, call };
}

const failWrites = () =>
  vi.spyOn(LogFile.prototype, 'append').mockResolvedValue({ bytes: 0, error: new Error('no space left on device') });

async function recorded(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { event, arguments: args, outcome } of queryAudit(directory, { name: 'count' })) {
    found.push([event, (args as { n: number }).n, outcome]);
  }
  return found;
}

test('a disk that fails while a call runs withholds its result, and the next call does not run', async () => {
  const { log, call } = await openOn({ sync: 'always' });
  const run = vi.fn(() => 'done');
  expect(await call(0, run)).toBe('done');
  const writes = failWrites();
  expect(await call(1, run)).toBe('Audit log unavailable: the request was run, but it could not be recorded');
  expect(await call(2, run)).toBe('Audit log unavailable: the request was not run; try again later');
  expect(await call(3, run, 'ping')).toBe('done');
  expect(await call(4, run, 'initialize')).toBe('done');
  expect(run).toHaveBeenCalledTimes(4);
  writes.mockRestore();
  await log.close();
  expect(await recorded()).toEqual([
    ['call', 0, 'ok'],
    ['call', 1, 'ok'],
    ['request', 4, 'ok'],
  ]);
});

test('with failureMode: open the result is sent although it is not recorded yet', async () => {
  const { log, call } = await openOn({ sync: 'always', failureMode: 'open' });
  const writes = failWrites();
  expect([await call(0, () => 'done'), await call(1, () => 'done')]).toEqual(['done', 'done']);
  expect(log.monitor()).toMatchObject({ status: 'degraded' });
  writes.mockRestore();
  await log.close();
  expect(await recorded()).toEqual([
    ['call', 0, 'ok'],
    ['call', 1, 'ok'],
  ]);
});

test.each(['interval', 'never'] as const)(
  'with sync: %s calls are rejected from the first failure on',
  async (sync) => {
    const { log, call } = await openOn({ sync });
    const run = vi.fn(() => 'done');
    const writes = failWrites();
    expect(await call(0, run)).toBe('done');
    await vi.waitFor(() => expect(log.status.failure).toBe('no space left on device'), 20_000);
    expect(await call(1, run)).toContain('the request was not run');
    expect(await call(2, run, 'tools/list')).toBe('done');
    expect(run).toHaveBeenCalledTimes(2);
    expect(log.status).toMatchObject({ rejectedCalls: 1, droppedLines: 0 });
    writes.mockRestore();
    await log.close();
    expect(await recorded()).toEqual([['call', 0, 'ok']]);
  },
);

test.each([
  ['a long text', { text: 'x'.repeat(1_000) }],
  ['a long name', { ['x'.repeat(1_000)]: 1 }],
  ['a list', { list: [1] }],
  ['many values', Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 1]))],
])('arguments with %s are not held until the next write', async (_what, more) => {
  const { log, call } = await openOn({});
  await call(0, () => 'done');
  expect(log.status.queuedBytes).toBe(0);
  await call(1, () => 'done', 'tools/call', more);
  expect(log.status.queuedBytes).toBeGreaterThan(0);
  await log.close();
  expect(await recorded()).toEqual([
    ['call', 0, 'ok'],
    ['call', 1, 'ok'],
  ]);
});
