// A server whose tools run as tasks, on the built library: `node task-program.mjs stdio`, or `http` on any port. Both
// dialects, on every transport.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const dist = resolve(process.env.MOORING_TEST_DIST ?? resolve(import.meta.dirname, '../../dist'));
const { createServer, elicit, serveHttp, serveStdio, UserError, WireError } = await import(
  pathToFileURL(resolve(dist, 'index.js')).href
);

const pollMs = [100, 200];
const name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const pause = (ms, signal) =>
  new Promise((done, failed) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      failed(signal.reason);
    });
  });

const waiting = [];
const server = createServer({ name: 'task-program', version: '1.0.0' });

server.tool('count', {
  task: { support: 'optional', start: 'immediately', pollMs },
  run: async (_args, ctx) => {
    await ctx.progress(1, 2, 'step 1 of 2');
    await new Promise((release) => waiting.push(release));
    await ctx.progress(2, 2, 'step 2 of 2');
    return 'counted';
  },
});
server.tool('rare', {
  task: { support: 'required', pollMs: [60_000, 60_000] },
  run: async () => {
    await new Promise((release) => waiting.push(release));
    return 'at last';
  },
});
// Lets the calls of `count` and `rare` go on, and returns how many.
server.tool('continue', {
  run: () => {
    const released = waiting.splice(0);
    for (const release of released) release();
    return String(released.length);
  },
});
server.tool('structured', {
  task: { support: 'required', pollMs },
  output: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
  run: async (_args, ctx) => {
    await pause(50, ctx.signal);
    return { total: 3 };
  },
});
server.tool('greet', {
  task: { support: 'required', pollMs },
  run: async (_args, ctx) => {
    const answer = await ctx.elicit('Who are you?', name);
    return answer.action === 'accept' ? `Hello, ${answer.content.name}` : `no name (${answer.action})`;
  },
});
server.tool('introduce', {
  task: { support: 'required', pollMs },
  run: async (_args, ctx) => {
    const { left, right } = await ctx.requestInputs({ left: elicit('Left?', name), right: elicit('Right?', name) });
    return `${left.content?.name} meets ${right.content?.name}`;
  },
});
server.tool('endless', {
  task: { support: 'required', pollMs },
  run: async (_args, ctx) => {
    await pause(600_000, ctx.signal);
    return 'never';
  },
});
server.tool('rejected', {
  task: { support: 'required', pollMs },
  run: () => {
    throw new UserError('There is no wind');
  },
});
server.tool('broken', {
  task: { support: 'required', pollMs },
  run: () => {
    throw new WireError('application', 'The mast broke', { code: -32050 });
  },
});
server.tool('quick', { run: () => 'quick' });

/** The token is the name of the user. */
const authenticate = (request) => ({ id: request.get('authorization') ?? 'anyone' });

if (process.argv[2] === 'stdio') await serveStdio(server);
else {
  const { url } = await serveHttp(server, { port: 0, ownProcess: true, authenticate });
  console.error(`listening on ${url}`);
}
