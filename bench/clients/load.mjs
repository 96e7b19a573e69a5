// One client under load, in a process of its own, told by BENCH_JOB what to do.
// Prints CPU per call of this process alone; the server is another process, and the same for all clients.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const {
  client: name,
  transport,
  era,
  ms,
  warmMs,
  inFlight,
  slices,
} = JSON.parse(process.env.BENCH_JOB ?? process.argv[2] ?? '{}');
const server = fileURLToPath(new URL('server.mjs', import.meta.url));
const pinned = availableParallelism() > 1 && existsSync('/usr/bin/taskset') ? ['taskset', '-c', '1'] : [];
const argv = [...pinned, process.execPath, server];
/** The server over HTTP; over stdio each client starts it itself. */
const http =
  transport === 'http'
    ? spawn(argv[0], argv.slice(1), {
        env: { ...process.env, BENCH_HTTP: '1' },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
    : undefined;
process.once('exit', () => http?.kill('SIGKILL'));
const url = http && `http://127.0.0.1:${(await once(http, 'message'))[0].listening}/mcp`;
const info = { name: 'bench', version: '1.0.0' };
const args = { operation: 'add', a: 1, b: 2 };

/**
 * A connected client: how it calls, and how it ends.
 * @typedef {{ revision: string, call: () => Promise<any>, close: () => Promise<void> }} Connected
 * @type {Record<string, () => Promise<Connected>>}
 */
const clients = {
  async mooring() {
    const { connect } = await import('../../dist/client.js');
    const revision = era === 'stateless' ? '2026-07-28' : 'handshake';
    const client = await connect(transport === 'stdio' ? argv : url, { client: info, revision });
    await client.listTools();
    return {
      revision: client.revision,
      call: () => client.callTool('calculate', args),
      close: () => client.close(),
    };
  },
  async 'sdk-old'() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client(info);
    await client.connect(
      transport === 'stdio'
        ? new StdioClientTransport({ command: argv[0], args: argv.slice(1) })
        : new StreamableHTTPClientTransport(new URL(url)),
    );
    await client.listTools();
    return {
      revision: '2025-11-25',
      call: () => client.callTool({ name: 'calculate', arguments: args }),
      close: () => client.close(),
    };
  },
  async 'sdk-new'() {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const mode = era === 'stateless' ? { pin: '2026-07-28' } : 'legacy';
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(
      transport === 'stdio'
        ? new StdioClientTransport({ command: argv[0], args: argv.slice(1) })
        : new StreamableHTTPClientTransport(new URL(url)),
    );
    await client.listTools();
    return {
      revision: client.getNegotiatedProtocolVersion() ?? '',
      call: () => client.callTool({ name: 'calculate', arguments: args }),
      close: () => client.close(),
    };
  },
};

const connected = await clients[name]();
const first = await connected.call();
assert.equal(first.content[0].text, '3');

/** Calls, `inFlight` at a time, for so long and at least so often. @param {number} forMs @param {number} atLeast */
async function load(forMs, atLeast) {
  const until = performance.now() + forMs;
  let calls = 0;
  const lane = async () => {
    while (performance.now() < until || calls < atLeast) {
      await connected.call();
      calls++;
    }
  };
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await Promise.all(Array.from({ length: inFlight }, lane));
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / calls, perSec: (calls / (performance.now() - begun)) * 1000 };
}

// The compiler settles after so many calls, not after so much time, and over HTTP there are few in a second.
await load(warmMs, 5_000);
const taken = [];
for (let n = 0; n < slices; n++) taken.push(await load(ms / slices, 500));
console.log(JSON.stringify({ revision: connected.revision, taken }));
await connected.close();
process.exit();
