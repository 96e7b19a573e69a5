import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createServer } from '../engine/server.ts';
import { serveStdio } from './stdio.ts';

const server = createServer({ name: 'untyped', version: '1.0.0', logger: false });
const streams = () => ({ stdin: new PassThrough(), stdout: new PassThrough() });

test('serveStdio rejects an option that does not exist, and names those that do', async () => {
  const options = { ...streams(), unknwon: 1 };
  await expect(serveStdio(server, options)).rejects.toThrow(
    'Unknown option unknwon of serveStdio; use one of stdin, stdout, principal, logger, ownProcess',
  );
  expect(options.stdin.listenerCount('data')).toBe(0);
});

test.each([null, 5])('serveStdio(server, %j) says that options are an object', async (options) => {
  await expect(serveStdio(server, options as never)).rejects.toThrow(
    'The options of serveStdio must be an object, not',
  );
});

test('serveStdio accepts all of its options', async () => {
  const { closed, close } = await serveStdio(server, {
    ...streams(),
    ...{ ownProcess: false, parentPollMs: 0, graceMs: 10, maxMessageBytes: 1000, pauseBytes: 1, maxBacklogBytes: 1 },
    ...{ maxUnreadBytes: 1, reload: () => {}, principal: { id: 'me' } },
  });
  await close();
  expect(await closed).toBe('stopped');
});
