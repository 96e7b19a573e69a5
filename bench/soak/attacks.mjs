// What the hostile caller does, each as one round with a bounded number of requests, connections and bytes; hostile.mjs
// repeats the rounds, all of them at once, as long as the soak lasts. `count` notes what came of each attempt.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { initialize, initialized, postBytes, sessionVersion, sleep, stateless, statelessHeaders } from './wire.mjs';

const large = 'x'.repeat(9 * 1024 * 1024);

/** A socket that is written to and never read. Resolves once it is connected, or has failed. */
function deafSocket(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(socket.pause()));
    socket.on('error', () => resolve(socket));
  });
}

/** Holds sockets for a while, as a client that takes nothing would. */
async function hold(sockets, ms, count) {
  await sleep(ms);
  for (const socket of sockets) {
    count(socket.destroyed ? 'closed by the server' : 'held');
    socket.destroy();
  }
}

const readLarge = ({ root }) => {
  const params = { uri: `file://${root}/large.bin` };
  return [stateless('resources/read', params, 1), statelessHeaders('resources/read', params)];
};

/** Runs so many at a time until all are done. */
async function parallel(total, width, work) {
  let next = 0;
  const lane = async () => {
    while (next < total) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

/** Ways to get what one caller should not get. `pauseMs` is the time between two rounds. */
export const attacks = {
  'pipelined large reads, unread': {
    pauseMs: 2_000,
    async round({ port, token, root, count }) {
      const socket = await deafSocket(port);
      const request = postBytes(port, token, ...readLarge({ root }));
      for (let n = 0; n < 1_000 && !socket.destroyed; n++) socket.write(request);
      await hold([socket], 8_000, count);
    },
  },
  'pipelined lists of notes, unread': {
    pauseMs: 2_000,
    async round({ port, token, caller, count }) {
      const note = { name: 'add_note', arguments: { content: 'x'.repeat(500_000) } };
      for (let n = 0; n < 4; n++) count((await caller.call('tools/call', note)).status);
      const socket = await deafSocket(port);
      const params = { name: 'get_notes', arguments: {} };
      const request = postBytes(
        port,
        token,
        stateless('tools/call', params, 1),
        statelessHeaders('tools/call', params),
      );
      for (let n = 0; n < 1_000 && !socket.destroyed; n++) socket.write(request);
      await hold([socket], 8_000, count);
    },
  },
  'many connections with an unread answer': {
    pauseMs: 5_000,
    async round({ port, token, root, count }) {
      const request = postBytes(port, token, ...readLarge({ root }));
      const sockets = [];
      for (let n = 0; n < 300; n++) {
        const socket = await deafSocket(port);
        socket.write(request);
        sockets.push(socket);
      }
      await hold(sockets, 8_000, count);
    },
  },
  'unfinished bodies': {
    pauseMs: 15_000,
    async round({ port, token, count }) {
      const part = postBytes(port, token, Buffer.alloc(64 * 1024, 0x20), {}, '/mcp', 10 * 1024 * 1024);
      const more = Buffer.alloc(1024 * 1024, 0x20);
      const sockets = [];
      for (let n = 0; n < 100; n++) {
        const socket = await deafSocket(port);
        socket.write(part);
        sockets.push(socket);
      }
      for (let sent = 0; sent < 9; sent++) {
        for (const socket of sockets) {
          if (!socket.destroyed && socket.writableLength < 4 * more.length) socket.write(more);
        }
        await sleep(300);
      }
      await hold(sockets, 5_000, count);
    },
  },
  'subscriptions to huge URIs': {
    pauseMs: 1_000,
    async round({ caller, count }) {
      const session = await caller.openSession();
      for (let n = 0; n < 10; n++) {
        const params = { uri: `note://${n}${large}` };
        const body = { jsonrpc: '2.0', id: n, method: 'resources/subscribe', params };
        count((await caller.post(body, { 'Mcp-Session-Id': session })).status);
        await sleep(200);
      }
    },
  },
  'abandoned calls': {
    pauseMs: 500,
    async round({ port, token, caller, count }) {
      const session = await caller.openSession();
      const params = { name: 'long_running_task', arguments: { steps: 5, delay: 60 } };
      await parallel(400, 20, async (n) => {
        const request = postBytes(
          port,
          token,
          { jsonrpc: '2.0', id: n, method: 'tools/call', params },
          {
            'Mcp-Session-Id': session,
          },
        );
        const socket = await deafSocket(port);
        socket.end(request);
        await sleep(20);
        socket.destroy();
        count('abandoned');
      });
    },
  },
  'many subscriptions with many URIs': {
    pauseMs: 1_000,
    async round({ port, token, caller, count }) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, { headers: { Authorization: `Bearer ${token}` } });
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
      const uris = Array.from({ length: 9_999 }, (_, n) => `note://an-id-that-nothing-has-${n}`);
      const notifications = { resourceSubscriptions: [...uris, 'server://notes'] };
      for (let n = 0; n < 1_000 && socket.readyState === WebSocket.OPEN; n++) {
        socket.send(JSON.stringify(stateless('subscriptions/listen', { notifications }, `listen-${n}`)));
        while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > 2 ** 20) await sleep(20);
        if (n % 10 === 0) count((await caller.call('tools/call', { name: 'increment_counter', arguments: {} })).status);
        if (n % 50 === 0) {
          const note = { name: 'add_note', arguments: { content: 'a change' } };
          count((await caller.call('tools/call', note)).status);
        }
      }
      count(socket.readyState === WebSocket.OPEN ? 'all open' : 'closed by the server');
      socket.terminate();
    },
  },
  'long progress tokens': {
    pauseMs: 2_000,
    async round({ caller, count }) {
      const params = { name: 'long_running_task', arguments: { steps: 1000, delay: 0 } };
      const body = stateless('tools/call', params, 1, { progressToken: large });
      const signal = AbortSignal.timeout(5_000);
      const response = await caller.open('POST', '/mcp', body, statelessHeaders('tools/call', params), signal);
      count(response.statusCode);
      for await (const chunk of response) if (chunk.length < 0) break;
    },
  },
  'huge URIs against the policy': {
    pauseMs: 1_000,
    async round({ caller, count }) {
      const session = await caller.openSession();
      const params = { uri: `note://${'%2e%2e/'.repeat(1_300_000)}` };
      const body = { jsonrpc: '2.0', id: 1, method: 'resources/read', params };
      count((await caller.post(body, { 'Mcp-Session-Id': session })).status);
    },
  },
  'many sessions': {
    pauseMs: 100,
    async round({ caller, count }) {
      await parallel(200, 4, async () => {
        const session = await caller.openSession();
        const headers = { 'Mcp-Session-Id': session };
        const params = { name: 'get_current_time', arguments: {} };
        count((await caller.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)).status);
        count((await caller.send('DELETE', '/mcp', undefined, headers)).status);
      });
    },
  },
  'sessions with subscriptions and streams': {
    pauseMs: 1_000,
    async round({ port, caller, count }) {
      const streams = [];
      await parallel(100, 4, async (n) => {
        const session = await caller.openSession();
        const headers = { 'Mcp-Session-Id': session };
        for (const uri of ['server://notes', 'server://counter', `note://${n}`]) {
          const body = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } };
          count((await caller.post(body, headers)).status);
        }
        const socket = await deafSocket(port);
        const lines = [
          'GET /mcp HTTP/1.1',
          `Host: 127.0.0.1:${port}`,
          'Accept: text/event-stream',
          `Authorization: ${caller.authorization.Authorization}`,
          `Mcp-Session-Id: ${session}`,
        ];
        socket.write(`${lines.join('\r\n')}\r\n\r\n`);
        streams.push(socket);
      });
      await hold(streams, 3_000, count);
    },
  },
  'a flood of calls': {
    pauseMs: 0,
    async round({ caller, count }) {
      const params = { name: 'calculate', arguments: { operation: 'add', a: 1, b: 2 } };
      await parallel(2_000, 16, async (n) => count((await caller.call('tools/call', params, n)).status));
    },
  },
  'values that are no messages': {
    pauseMs: 500,
    async round({ port, token, caller, count }) {
      const signal = AbortSignal.timeout(5_000);
      const stream = await caller.open('GET', '/sse', undefined, { Accept: 'text/event-stream' }, signal);
      const endpoint = await new Promise((resolve, reject) => {
        stream.setEncoding('utf8').on('data', (text) => resolve(/data: ?(\S+)/.exec(text)?.[1]));
        stream.on('error', reject).on('close', () => reject(new Error('closed')));
      });
      const version =
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":#}}}';
      for (const text of ['null', '0', '[]', '[[]]', '{"toString":1}', version.replace('#', '{"toString":1}')]) {
        count((await caller.send('POST', endpoint, Buffer.from(text))).status);
        count((await caller.post(Buffer.from(text))).status);
      }
      const socket = await deafSocket(port);
      socket.end(postBytes(port, token, 'null', {}, endpoint));
      stream.destroy();
    },
  },
  'many file changes': {
    pauseMs: 10_000,
    async round({ root, caller, count }) {
      const folder = `${root}/changing`;
      mkdirSync(folder, { recursive: true });
      const session = await caller.openSession();
      for (let n = 0; n < 3_000; n++) {
        writeFileSync(`${folder}/${n}.txt`, 'x');
        if (n % 100 === 0) {
          const params = { uri: `file://${folder}/${n}.txt` };
          const body = { jsonrpc: '2.0', id: n, method: 'resources/subscribe', params };
          count((await caller.post(body, { 'Mcp-Session-Id': session })).status);
        }
      }
      for (let n = 0; n < 3_000; n++) {
        utimesSync(`${folder}/${n}.txt`, new Date(), new Date());
        if (n % 200 === 0) await sleep(1);
      }
    },
  },
  'garbage of all versions': {
    pauseMs: 1_000,
    async round({ caller, count }) {
      for (const body of [initialize(large.slice(0, 100_000)), initialize(sessionVersion), initialized]) {
        count((await caller.post(body)).status);
        count((await caller.post(body, { 'Mcp-Session-Id': 'x'.repeat(2_000) })).status);
      }
    },
  },
};
