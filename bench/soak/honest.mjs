// The honest callers, in a process of their own: calls, sessions, streams, changes, each with its own token, at a steady
// pace. Every request must succeed. Also measures its own event loop, to tell a slow server from a busy machine.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Socket } from './honest-socket.mjs';
import { Caller, initialize, initialized, sleep } from './wire.mjs';
import { withheldByCore, withheldSince } from './withheld.mjs';

const { port, tokens, root, paceMs } = JSON.parse(process.argv[2]);

/** Latencies of the measured period in ms, by kind, as [measured, without what the host withheld]; what went wrong. */
let measured = newFigures();
let stopped = false;
const ownLoop = monitorEventLoopDelay({ resolution: 10 });
ownLoop.enable();

function newFigures() {
  return { kinds: {}, lost: [], total: 0, pending: new Map() };
}

/** Runs one request and takes its time. Anything but success is a lost request. */
async function timed(kind, work) {
  const figures = measured;
  const start = { begun: performance.now(), withheld: withheldByCore() };
  const key = {};
  figures.total++;
  figures.pending.set(key, { kind, start });
  try {
    await work();
    (figures.kinds[kind] ??= []).push(latencySince(start));
  } catch (error) {
    if (!stopped) figures.lost.push(`${kind}: ${error instanceof Error ? error.message : error}`);
  }
  figures.pending.delete(key);
}

function latencySince({ begun, withheld }) {
  const ms = performance.now() - begun;
  return [ms, Math.max(0, ms - withheldSince(withheld))];
}

function expectResult({ status, message }) {
  if (status !== 200 || message?.result === undefined) {
    throw new Error(`status ${status} ${JSON.stringify(message)?.slice(0, 200)}`);
  }
  return message.result;
}

const sum = (a, b) => ({ name: 'calculate', arguments: { operation: 'add', a, b } });

function expectSum(result, a, b) {
  if (!JSON.stringify(result).includes(String(a + b))) throw new Error(`a wrong result: ${JSON.stringify(result)}`);
}

/** Streamable HTTP: stateless calls, a long session with a stream, short sessions, reads and changes. */
async function callOverHttp(caller, name) {
  let session;
  let notice = () => {};
  let stream;
  await timed('session', async () => {
    session = await caller.openSession();
  });
  const inSession = (method, params = {}) =>
    caller.post({ jsonrpc: '2.0', id: 2, method, params }, { 'Mcp-Session-Id': session });
  const openStream = async () => {
    stream = await caller.open('GET', '/mcp', undefined, { Accept: 'text/event-stream', 'Mcp-Session-Id': session });
    if (stream.statusCode !== 200) throw new Error(`the stream has status ${stream.statusCode}`);
    stream.setEncoding('utf8').on('data', (text) => text.includes('notifications/resources/updated') && notice());
    const ended = () => {
      if (stopped) return;
      measured.lost.push('stream: it ended');
      openStream().catch((error) => measured.lost.push(`stream: ${error.message}`));
    };
    stream.once('close', ended).on('error', () => {});
  };
  await timed('stream', openStream);
  await timed('subscribe', async () => expectResult(await inSession('resources/subscribe', { uri: 'server://notes' })));

  const actions = [
    (n) => timed('call', async () => expectSum(expectResult(await caller.call('tools/call', sum(n, 1))), n, 1)),
    (n) =>
      timed('call in session', async () => expectSum(expectResult(await inSession('tools/call', sum(n, 2))), n, 2)),
    () => timed('list', async () => expectResult(await caller.call('tools/list', {}))),
    () =>
      timed('read', async () => expectResult(await inSession('resources/read', { uri: `file://${root}/small.txt` }))),
    async () => {
      let id;
      await timed('session', async () => {
        id = await caller.openSession();
      });
      if (id === undefined) return;
      await timed('end session', async () => {
        const { status } = await caller.send('DELETE', '/mcp', undefined, { 'Mcp-Session-Id': id });
        if (status !== 200) throw new Error(`status ${status}`);
      });
    },
    (n) => timed('call', async () => expectSum(expectResult(await caller.call('tools/call', sum(n, 3))), n, 3)),
    (n) =>
      timed('change', async () => {
        const told = new Promise((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error('no notice of a change within 5 s')), 5_000);
          notice = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        told.catch(() => {}); // It may fail while the call is still under way, which then fails as well.
        const note = { name: 'add_note', arguments: { content: `${name} ${n}` } };
        expectResult(await inSession('tools/call', note));
        await told;
      }),
  ];
  await pace(actions);
  stream?.destroy();
}

/** HTTP+SSE and WebSocket: the connection is the session. */
async function callOverSocket(socket, version) {
  await timed('connect', async () => {
    await socket.open();
    expectResult({ status: 200, message: await socket.request(initialize(version)) });
    socket.notify(initialized);
  });
  const actions = [
    (n) =>
      timed(`call over ${socket.kind}`, async () => {
        const message = await socket.request({ jsonrpc: '2.0', id: `c${n}`, method: 'tools/call', params: sum(n, 4) });
        expectSum(expectResult({ status: 200, message }), n, 4);
      }),
    (n) =>
      timed(`ping over ${socket.kind}`, async () => {
        const message = await socket.request({ jsonrpc: '2.0', id: `p${n}`, method: 'ping' });
        expectResult({ status: 200, message });
      }),
  ];
  await pace(actions);
  socket.close();
}

/** One action after the other, at a pace with some variation so that callers do not march in step. */
async function pace(actions) {
  for (let n = Math.floor(Math.random() * actions.length); !stopped; n++) {
    const begun = performance.now();
    await actions[n % actions.length](n);
    const restMs = paceMs * (0.5 + Math.random()) - (performance.now() - begun);
    if (restMs > 0) await sleep(restMs);
  }
}

const callers = tokens.map((token) => new Caller(port, token));
const running = tokens.map((token, n) => {
  const caller = callers[n];
  if (n === tokens.length - 1) return callOverSocket(Socket.webSocket(port, token), '2025-06-18');
  if (n === tokens.length - 2) return callOverSocket(Socket.sse(caller), '2024-11-05');
  return callOverHttp(caller, `caller ${n}`);
});

process.on('message', async (order) => {
  if (order === 'measure') {
    measured = newFigures();
    ownLoop.reset();
  } else if (order === 'stop') {
    const loop = { p99Ms: ownLoop.percentile(99) / 1e6, maxMs: ownLoop.max / 1e6 };
    stopped = true;
    const { kinds, lost, total, pending } = measured;
    // What waits longest must not be left out because the time is over.
    for (const { kind, start } of pending.values()) (kinds[kind] ??= []).push(latencySince(start));
    process.send({ kinds, lost: lost.slice(0, 50), lostCount: lost.length, total, loop }, () => process.exit(0));
  }
});
// A server that ends takes the connections along: each request then fails by itself and is counted.
process.on('unhandledRejection', (error) => measured.lost.push(`unhandled: ${error}`));
await Promise.allSettled(running);
