// Upstreams that fail: what their callers are told, how they come back, and that others are not affected.

import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Client, Transport } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { useClosers } from '../support/closers.ts';
import { isRunning } from '../support/is-running.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { clientOf, gatewayConfig, upstream } from './fixture.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
const script = join(import.meta.dirname, 'servers/faulty.mjs');
const faulty = { command: process.execPath, args: [script] };

function gatewayWith(...servers: readonly UpstreamConfig[]): Gateway {
  const gateway = createGateway(gatewayConfig(servers), { logger: false });
  closers.push(() => gateway.close());
  return gateway;
}

const started = (slug: string, given: Partial<UpstreamConfig> = {}): UpstreamConfig =>
  upstream(slug, { entry: faulty, revision: '2025-06-18', ...given });

const text = async (client: Client, tool: string): Promise<string> => {
  const { content } = await client.callTool(tool);
  return (content[0] as { text: string }).text;
};

test('a process that ends during a call fails the call with its last words, and is started again for the next', async () => {
  const gateway = gatewayWith(started('one'));
  const client = await clientOf(closers, gateway.server);
  const pid = await text(client, 'one__pid');
  const failed = await client.callTool('one__crash');
  expect(failed).toMatchObject({ isError: true, _meta: { 'mooring/mayHaveRun': true } });
  expect((failed.content[0] as { text: string }).text).toMatch(/server one ended .*code 3[\s\S]*out of memory/);
  expect(await text(client, 'one__pid')).not.toBe(pid);
  expect(gateway.status()[0]).toMatchObject({ state: 'ready', restarts: 1 });
});

test('a tool that only reads is called again after the process ended', async () => {
  const env = { CRASH_MARK: join(temporaryFolder(), 'mark') };
  const gateway = gatewayWith(started('one', { entry: { ...faulty, env } }));
  const client = await clientOf(closers, gateway.server);
  expect(await text(client, 'one__crash_once')).toBe('second time');
});

test('a server that cannot be started fails its calls with the reason; others work, and its last list stays', async () => {
  const missing = started('missing', { entry: { command: '/no/such/program' } });
  const lists = { tools: [{ name: 'x', inputSchema: {} }], prompts: [], resources: [], resourceTemplates: [] };
  const cache = {
    read: (digest: string) => (digest === missing.digest ? { lists, atMs: 0 } : undefined),
    write: () => {},
  };
  const gateway = createGateway(gatewayConfig([missing, started('one')]), { logger: false, cache });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  expect((await client.listTools()).map(({ name }) => name)).toContain('missing__x');
  const failed = await client.callTool('missing__x');
  expect(failed.isError).toBe(true);
  expect((failed.content[0] as { text: string }).text).toMatch(
    /^The server missing cannot be used: it could not be started$/,
  );
  expect(Number(await text(client, 'one__pid'))).toBeGreaterThan(0);
  const [down, ready] = gateway.status();
  expect(down).toMatchObject({ state: 'down', reason: expect.stringContaining('/no/such/program') });
  expect(ready).toMatchObject({ state: 'ready' });
});

test('callers get neither the command nor the URL of a server, nor what it prints of its arguments or folders', async () => {
  const program = 'console.error(process.argv.at(-1)); console.error(process.cwd() + "/index.js:7"); process.exit(3)';
  const failing = { command: process.execPath, args: ['-e', program, '--', '--api-key=S3CRET-1'] };
  const crashing = { ...faulty, args: [script, '--token', 'S3CRET-2'], env: { KEY: 'S3CRET-3' } };
  const far = { url: 'http://127.0.0.1:9/mcp?key=S3CRET-4' };
  const lists = { tools: [{ name: 'x', inputSchema: {} }], prompts: [], resources: [], resourceTemplates: [] };
  const restart = { minMs: 10, maxMs: 100, tries: 1, withinMs: 60_000 };
  const servers = [
    started('failing', { entry: failing, restart }),
    started('one', { entry: crashing }),
    upstream('far', { entry: far, restart }),
  ];
  const known = (digest: string) => (digest === servers[1]?.digest ? undefined : { lists, atMs: 0 });
  const gateway = createGateway(gatewayConfig(servers), { logger: false, cache: { read: known, write: () => {} } });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  await client.listTools();
  const texts = await Promise.all(['failing__x', 'one__crash', 'far__x'].map((name) => text(client, name)));
  expect(texts).toEqual([
    expect.stringMatching(/^The server failing cannot be used: .*exited with code 3[\s\S]*\[hidden\]/),
    expect.stringMatching(/^The server one ended .*exited with code 3[\s\S]*out of memory/),
    'The server far cannot be used: it could not be reached',
  ]);
  for (const hidden of ['S3CRET', script, process.execPath, process.cwd(), '127.0.0.1'])
    expect(texts.join()).not.toContain(hidden);
  expect(JSON.stringify(gateway.status().map(({ reason }) => reason))).not.toMatch(/S3CRET-[24]/);
});

test('a call that a restart or a removal of its server ends says so, and that it may have run', async () => {
  const config = gatewayConfig([started('one')]);
  const gateway = createGateway(config, { logger: false });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  await client.listTools();
  const ends = [() => gateway.restart('one'), () => gateway.reload(gatewayConfig([], { drainMs: 10 }))];
  for (const end of ends) {
    const call = client.callTool('one__hang');
    await expect.poll(() => gateway.status()[0]?.inFlight).toBe(1);
    await end();
    expect(await call).toMatchObject({
      content: [{ type: 'text', text: 'The gateway restarted or stopped the server one while it worked on this call' }],
      isError: true,
      _meta: { 'mooring/mayHaveRun': true },
    });
  }
});

test('a server that keeps failing is left in peace, until it is restarted', async () => {
  const folder = temporaryFolder();
  const program = join(folder, 'later.mjs');
  const gateway = gatewayWith(started('one', { entry: { command: process.execPath, args: [program] } }));
  const client = await clientOf(closers, gateway.server);
  await expect(client.listTools()).rejects.toThrow(/server one cannot be used/);
  expect(gateway.status()[0]).toMatchObject({ state: 'down', reason: expect.stringContaining('later.mjs') });
  const { copyFileSync } = await import('node:fs');
  copyFileSync(script, program);
  await gateway.restart('one');
  expect((await client.listTools({ cache: 'refresh' })).map(({ name }) => name)).toContain('one__pid');
});

test('with isolation, a caller whose processes end does not delay the others, who do not learn of it', async () => {
  const restart = { minMs: 10, maxMs: 10, tries: 2, withinMs: 60_000 };
  const gateway = gatewayWith(started('one', { isolation: 'session', restart }));
  const [one, other] = await Promise.all(
    [1, 2].map(() => clientOf(closers, gateway.server, { revision: '2025-11-25' })),
  );
  await one?.listTools();
  for (let n = 0; n < 2; n++) expect(await text(one as Client, 'one__crash')).toContain('out of memory');
  expect(await text(one as Client, 'one__pid')).toContain('its process ended repeatedly');
  expect(await text(other as Client, 'one__pid')).toMatch(/^\d+$/);
});

test('a process without work is stopped, stays listed, and is started for the next call', async () => {
  const gateway = gatewayWith(started('one', { idleMs: 50 }));
  const client = await clientOf(closers, gateway.server);
  const pid = Number(await text(client, 'one__pid'));
  await expect.poll(() => isRunning(pid)).toBe(false);
  await expect.poll(() => gateway.status()[0]).toMatchObject({ state: 'idle', connections: 0 });
  expect((await client.listTools({ cache: 'refresh' })).length).toBeGreaterThan(5);
  expect(Number(await text(client, 'one__pid'))).not.toBe(pid);
});

test('a call that takes too long fails, and a server that is silent is replaced', async () => {
  const gateway = gatewayWith(started('one', { timeoutMs: 1_000 }));
  const client = await clientOf(closers, gateway.server);
  // Again if the machine stopped one of the processes for longer than that.
  const pidOf = async (): Promise<string> => {
    let pid = '';
    await expect.poll(async () => (pid = await text(client, 'one__pid'))).toMatch(/^\d+$/);
    return pid;
  };
  const pid = await pidOf();
  expect(await text(client, 'one__hang')).toMatch(/server one failed: No response to tools\/call within 1000 ms/);
  expect(await pidOf()).toBe(pid);
  await client.callTool('one__mute');
  for (let silent = 0; silent < 3; silent++) await client.callTool('one__hang');
  await expect.poll(() => gateway.status()[0]?.state).toBe('degraded');
  expect(await pidOf()).not.toBe(pid);
});

test('progress extends the time limit of a call, whether or not the caller asked for progress', async () => {
  const { target } = scriptedUpstream(async ({ id, params }, side) => {
    const { progressToken } = (params?.['_meta'] ?? {}) as { readonly progressToken?: number };
    for (let progress = 1; progress <= 7; progress++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      side.send({ method: 'notifications/progress', params: { progressToken, progress } });
    }
    side.send({ id, result: { content: [{ type: 'text', text: 'late' }] } });
  });
  const config = gatewayConfig([upstream('one', { revision: '2025-11-25', timeoutMs: 1_000 })]);
  const gateway = createGateway(config, { logger: false, target: () => target });
  closers.push(() => gateway.close());
  const received: string[] = [];
  const client = await clientOf(closers, gateway.server, {
    revision: '2025-11-25',
    onMessage: (direction, message) => void (direction === 'in' && received.push(message)),
  });
  expect(await text(client, 'one__work')).toBe('late');
  expect(received.join()).not.toContain('notifications/progress');
});

test('output that is no message is ignored and shown in the status', async () => {
  const gateway = gatewayWith(started('one'));
  const client = await clientOf(closers, gateway.server);
  expect(await text(client, 'one__noise')).toBe('quiet again');
  expect(await text(client, 'one__wrong_id')).toBe('right');
  expect(gateway.status()[0]?.noise).toContain('Listening on port 3000');
});

test('an answer that is no result is an error that names the server', async () => {
  const gateway = gatewayWith(started('one'));
  const client = await clientOf(closers, gateway.server);
  await expect(client.callTool('one__no_result')).rejects.toThrow(/Invalid response from one/);
  await expect(client.callTool('one__bad_block')).rejects.toThrow(/Invalid response from one/);
  expect(Number(await text(client, 'one__pid'))).toBeGreaterThan(0);
});

test('members beside the result do not reach the client', async () => {
  const gateway = gatewayWith(started('one'));
  const received: string[] = [];
  const client = await clientOf(closers, gateway.server, {
    revision: '2025-06-18',
    onMessage: (direction, message) => {
      if (direction === 'in') received.push(message);
    },
  });
  expect(await client.callTool('one__injected')).toEqual({ content: [] });
  expect(received.at(-1)).toMatch(/^\{"jsonrpc":"2.0","id":\d+,"result":\{"content":\[\]\}\}$/);
});

test('a result that is too large ends the connection, not the gateway', async () => {
  const gateway = gatewayWith(started('one', { maxResultBytes: 100_000 }));
  const client = await clientOf(closers, gateway.server);
  const failed = await client.callTool('one__huge');
  expect(failed.isError).toBe(true);
  const message = (failed.content[0] as { text: string }).text;
  expect(message).toMatch(/exceeds \d+ bytes; raise "maxResultBytes" of the server if that is expected$/);
  expect(Number(await text(client, 'one__pid'))).toBeGreaterThan(0);
});

test('a process gets a minimal environment', async () => {
  process.env['GATEWAY_SECRET'] = 'of the gateway';
  closers.push(() => delete process.env['GATEWAY_SECRET']);
  const gateway = gatewayWith(started('one', { entry: { ...faulty, env: { GIVEN: 'yes' } } }));
  const client = await clientOf(closers, gateway.server);
  const env = JSON.parse(await text(client, 'one__env'));
  expect(env).toMatchObject({ GIVEN: 'yes' });
  expect(env).not.toHaveProperty('GATEWAY_SECRET');
});

test('ten clients share eight processes', async () => {
  const slugs = Array.from({ length: 8 }, (_, n) => `s${n}`);
  const gateway = gatewayWith(...slugs.map((slug) => started(slug)));
  const clients = await Promise.all(Array.from({ length: 10 }, () => clientOf(closers, gateway.server)));
  const pids = await Promise.all(clients.flatMap((client) => slugs.map((slug) => text(client, `${slug}__pid`))));
  expect(new Set(pids).size).toBe(8);
});

test('with isolation, processes are limited: an idle one is stopped, and if all are busy the call says so', async () => {
  const gateway = gatewayWith(started('one', { isolation: 'session', maxProcesses: 2 }));
  const clients = await Promise.all(
    Array.from({ length: 3 }, () => clientOf(closers, gateway.server, { revision: '2025-11-25' })),
  );
  const [first, second, third] = clients as [Client, Client, Client];
  const pids = [await text(first, 'one__pid'), await text(second, 'one__pid'), await text(third, 'one__pid')];
  expect(new Set(pids).size).toBe(3);
  await expect.poll(() => pids.filter((pid) => isRunning(Number(pid))).length).toBe(2);
  const stop = new AbortController();
  const { signal } = stop;
  const busy = [second.callTool('one__hang', {}, { signal }), third.callTool('one__hang', {}, { signal })];
  await expect.poll(() => gateway.status()[0]?.inFlight).toBe(2);
  expect(await text(first, 'one__pid')).toMatch(/all 2 processes are in use/);
  stop.abort();
  await Promise.allSettled(busy);
});

test.each(['session', 'call'] as const)(
  'processes that take long to end count as well, with isolation %s',
  { timeout: 30_000 },
  async (isolation) => {
    const entry = { ...faulty, env: { STUBBORN: '1' } };
    const gateway = gatewayWith(started('one', { entry, isolation, maxProcesses: 2 }));
    const pids: number[] = [];
    for (let n = 0; n < 4; n++) {
      const client = await clientOf(closers, gateway.server, { revision: '2025-11-25' });
      pids.push(Number(await text(client, 'one__pid')));
      expect(pids.filter(isRunning).length).toBeLessThanOrEqual(2);
    }
    expect(new Set(pids).size).toBe(4);
  },
);

test('a server whose call ends before the client has answered for its roots gets those of its configuration', async () => {
  const roots = [{ uri: 'file:///configured' }];
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const gateway = createGateway(gatewayConfig([started('one', { roots })]), { logger });
  closers.push(() => gateway.close());
  const ended = new AbortController();
  const client = await clientOf(closers, gateway.server, {
    revision: '2025-11-25',
    handlers: {
      roots: async () => {
        await new Promise((resolve) => ended.signal.addEventListener('abort', resolve));
        return [{ uri: 'file:///too-late' }];
      },
    },
  });
  expect(await text(client, 'one__ask_roots')).toBe('asked');
  await expect.poll(() => text(client, 'one__given_roots')).toBe(JSON.stringify({ roots }));
  // It is the server that does not wait, not a handler of the gateway.
  expect(warnings).toEqual([]);
  ended.abort();
});

test('a list waits once for a server that cannot be started, and is an error if it is the only one', async () => {
  const missing = started('missing', { entry: { command: '/no/such/program' } });
  let reads = 0;
  const gateway = createGateway(gatewayConfig([missing, started('one')], { firstListMs: 60_000 }), {
    logger: false,
    onState: ({ slug, state }) => {
      if (slug === 'missing' && state === 'starting') reads++;
    },
  });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  expect((await client.listTools()).map(({ name }) => name)).toContain('one__pid');
  const begun = reads;
  await client.listTools({ cache: 'refresh' });
  await client.listPrompts();
  expect(reads).toBe(begun);

  const alone = gatewayWith(missing);
  const other = await clientOf(closers, alone.server);
  await expect(other.listTools()).rejects.toThrow(/server missing cannot be used/);
  await expect(other.listTools()).rejects.toThrow(/server missing cannot be used/);
});

test('a list does not wait for further attempts to start a server, whose items are announced when one succeeds', async () => {
  const { target } = scriptedUpstream();
  let attempts = 0;
  const late = (): Transport => {
    if (++attempts === 1) throw new Error('not yet');
    return target();
  };
  const restart = { minMs: 1_000, maxMs: 60_000, tries: 5, withinMs: 300_000 };
  const servers = [started('late', { restart, revision: '2025-11-25' }), started('one')];
  const gateway = createGateway(gatewayConfig(servers, { firstListMs: 60_000 }), {
    logger: false,
    target: ({ slug }) => (slug === 'late' ? late : undefined),
  });
  closers.push(() => gateway.close());
  let announce = (): void => {};
  const client = await clientOf(closers, gateway.server, { revision: '2025-11-25', onListChanged: () => announce() });
  const names = (await client.listTools()).map(({ name }) => name);
  expect(names).toContain('one__pid');
  expect(names).not.toContain('late__work');
  expect(attempts).toBe(1);
  await expect(client.callTool('late__work')).rejects.toThrow('The server late cannot be used: not yet');
  await new Promise<void>((resolve) => {
    announce = resolve;
  });
  expect(await text(client, 'late__work')).toBe('done');
});

test('the list of the only server is an error while its start fails again and again, not only at the end', async () => {
  const entry = { command: process.execPath, args: [join(temporaryFolder(), 'none.mjs')] };
  const slow = { minMs: 60_000, maxMs: 60_000, tries: 5, withinMs: 300_000 };
  const config = gatewayConfig([started('one', { entry, restart: slow })], { firstListMs: 500 });
  let resolve = (): void => {};
  const failed = new Promise<void>((done) => {
    resolve = done;
  });
  const onState = ({ reason }: { readonly reason?: string }): void => {
    if (reason !== undefined) resolve();
  };
  const gateway = createGateway(config, { logger: false, onState });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  const first = client.listTools().catch(() => undefined);
  await failed;
  await first;
  await expect(client.listTools({ cache: 'refresh' })).rejects.toThrow(/server one cannot be used/);
});
