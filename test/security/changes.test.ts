// What callers watch must not slow down anybody else: a change is looked up, not searched for, and much to tell is told
// in slices, between which others are served.

import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { ServerOptions } from '../../src/engine/server-options.ts';
import { installFiles } from '../../src/packs/system/files.ts';
import { Workspace } from '../../src/packs/workspace/workspace.ts';
import { requireScopes } from '../../src/security/auth/index.ts';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { serveWires, statelessKinds, type Wire, type WireKind, wireKinds } from '../support/wires.ts';

const closers = useClosers(afterEach);

function makeServer(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: 'changes', version: '1.0.0', ...options });
  server.resourceTemplate('note://{+id}', { name: 'note', read: () => 'a note' });
  server.tool('touch', {
    input: { type: 'object', properties: { count: { type: 'number' } } },
    run: ({ count }) => {
      for (let n = 0; n < Number(count); n++) server.resourceUpdated(`note://watched/${n}`);
      return 'touched';
    },
  });
  return server;
}

async function serve(server: Server) {
  const wires = await serveWires(server, { alice: [], bob: [] });
  closers.push(() => wires.close());
  return wires;
}

/** What the server sends, in order: `ping` for an answer to a ping, `change` for a notice, `other` for the rest. */
function record(server: Server): string[] {
  const sent: string[] = [];
  closers.push(
    server.observe({
      sent: (text) =>
        void sent.push(
          text.includes('notifications/resources/updated')
            ? 'change'
            : text.includes('"result":{}')
              ? 'ping'
              : text.includes('subscriptions/acknowledged')
                ? 'listening'
                : 'other',
        ),
    }),
  );
  return sent;
}

/** Pings until told to stop. */
function keepPinging(wire: Wire): () => Promise<void> {
  let going = true;
  const pinging = (async () => {
    while (going) {
      await wire.request('ping');
      // Streams in memory need no turn of the event loop: without this nothing else would have one.
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  return async () => {
    going = false;
    await pinging;
  };
}

const watch = (wire: Wire, ...resourceSubscriptions: string[]) =>
  wire.stateless('subscriptions/listen', { notifications: { resourceSubscriptions } });

describe.each(isFullRun ? (['stdio', 'websocket'] as const) : (['websocket'] as const))(
  'two hundred thousand URIs watched over %s',
  (kind) => {
    test('do not slow down a change of something else', async () => {
      const server = makeServer({ limits: { maxKeptBytes: 1e12, maxKeptBytesPerCaller: 1e12 } });
      const { connect } = await serve(server);
      const hostile = await connect(kind, 'alice');
      for (let n = 0; n < 20; n++) {
        await watch(hostile, ...Array.from({ length: 10_000 }, (_, m) => `note://other/${n}/${m}`));
      }
      const honest = await connect(kind, 'bob');
      await watch(honest, 'note://watched');
      const before = process.cpuUsage();
      for (let n = 0; n < 100; n++) {
        server.resourceUpdated(`note://watched/${n}`);
        await honest.next(({ params }) => params?.uri === `note://watched/${n}`);
      }
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(1_000);
    }, 120_000);
  },
);

/** By default each wire with one kind of changes. */
const someWires = (first: number): readonly WireKind[] => wireKinds.filter((_, n) => isFullRun || n % 2 === first);

describe.each(someWires(0))('while twenty thousand changes are announced, over %s', (kind) => {
  test('others are answered', async () => {
    const server = makeServer();
    const sent = record(server);
    const { connect } = await serve(server);
    const watching = await connect('stdio', 'alice');
    await watch(watching, 'note://watched');
    const honest = await connect(kind, 'bob');
    const stop = keepPinging(honest);
    await watching.request('tools/call', { name: 'touch', arguments: { count: 20_000 } });
    await watching.next(({ params }) => params?.uri === 'note://watched/19999');
    await stop();
    expect(sent.filter((each) => each === 'change')).toHaveLength(20_000);
    const between = sent.slice(sent.indexOf('change'), sent.lastIndexOf('change'));
    expect(between.filter((each) => each === 'ping').length).toBeGreaterThan(0);
  });
});

describe.each(someWires(1))('while files change by the thousand, over %s', (kind) => {
  test('others are answered', async () => {
    const folder = temporaryFolder();
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const server = makeServer();
    const sent = record(server);
    const close = await installFiles(server, new Workspace({ roots: [folder] }));
    closers.push(() => close?.());
    const { connect } = await serve(server);
    const watching = await connect('stdio', 'alice');
    await watch(watching, pathToFileURL(folder).href);
    const honest = await connect(kind, 'bob');
    const stop = keepPinging(honest);
    // Within one turn, so that the watch hears of all of them together.
    for (let n = 0; n < 2_000; n++) closeSync(openSync(join(folder, `file-${n}`), 'w'));
    await expect.poll(() => sent.filter((each) => each === 'change').length, { timeout: 30_000 }).toBe(2_000);
    await stop();
    const between = sent.slice(sent.indexOf('change'), sent.lastIndexOf('change'));
    expect(between.filter((each) => each === 'ping').length).toBeGreaterThan(1);
  }, 60_000);
});

describe.each(statelessKinds)('while a policy looks at ten thousand URIs to watch, over %s', (kind) => {
  test('others are answered, and no rule ever sees a text that is too long', async () => {
    const server = makeServer();
    let longest = 0;
    server.restrict((_kind, key) => {
      longest = Math.max(longest, key.length);
      return true;
    });
    server.around(requireScopes([{ resources: ['note://secret/*/of/*/**'], scopes: ['admin'] }]));
    const { connect } = await serve(server);
    const hostile = await connect(kind, 'alice');
    const honest = await connect(kind, 'bob');
    const sent = record(server);
    const stop = keepPinging(honest);
    // Each is decoded three times before it is known what it says.
    await watch(hostile, ...Array.from({ length: 10_000 }, (_, n) => `note://x${n}/${'%2525'.repeat(38)}`));
    await stop();
    const first = sent.indexOf('ping');
    expect(first).toBeGreaterThan(-1);
    expect(first).toBeLessThan(sent.indexOf('listening'));
    const long = `note://${'%2525'.repeat(600_000)}`;
    expect((await watch(hostile, long)).error?.code).toBe(-32602);
    expect((await hostile.request('resources/read', { uri: long })).error?.code).toBe(-32602);
    expect((await hostile.request('resources/subscribe', { uri: long })).error?.code).toBe(-32602);
    expect(longest).toBeLessThan(10_000);
  });
});
