// Clients that come and go, in every way that a client can go, while servers and the gateway itself are killed: afterwards
// there are as many processes and handles as before, and the heap has not grown. 60 rounds; 10,000 with MOORING_TEST_FULL=1.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { isFullRun } from '../support/full.ts';
import { useHome } from '../support/program.ts';
import { type HttpGateway, startHttp, textOf, toolNames, writeConfig } from './cli/support.ts';

const rounds = isFullRun ? Number(process.env['MOORING_TEST_ROUNDS'] ?? 10_000) : 60;
/** Rounds that run at the same time. */
const atOnce = 5;
const killServerEvery = isFullRun ? 50 : 15;
const killGatewayEvery = isFullRun ? 2_500 : 30;
/** Rounds after which everything that is loaded or cached once is there. */
const warmUp = isFullRun ? 250 : 15;
/** What a heap may differ by without growing. */
const toleratedBytes = 6 * 1024 * 1024;

const home = useHome();
const slugs = ['one', 'two', 'three'];
const script = join(import.meta.dirname, 'servers/faulty.mjs');
const hook = join(import.meta.dirname, 'servers/heap-report.mjs');

/** Ids of the processes with this word on their command line. */
function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandOf(name).includes(word))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It has ended meanwhile.
  }
}

const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

interface HeapReport {
  readonly heapBytes: number;
  readonly handles: number;
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

function post(url: string, method: string, params: object, headers: object, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The ways of clients: each connects to the gateway and goes again. */
const ways: readonly ((url: string, slug: string) => Promise<void>)[] = [
  // Clients of both eras that close their connection.
  ...['2025-11-25', '2026-07-28'].map((revision) => async (url: string, slug: string) => {
    const client = await connect(url, { revision });
    let result = await client.callTool(`${slug}__pid`, {});
    // A call that was sent to a server that is being killed is not repeated by the gateway.
    while (result.isError === true) {
      expect(result).toMatchObject({ _meta: { 'mooring/mayHaveRun': true } });
      result = await client.callTool(`${slug}__pid`, {});
    }
    expect(Number(textOf(result))).toBeGreaterThan(0);
    await client.close();
  }),
  // A client that opens a session and is never seen again.
  async (url) => {
    const clientInfo = { name: 'gone', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const response = await post(url, 'initialize', params, {});
    expect(response.headers.get('mcp-session-id')).not.toBeNull();
    await response.text();
  },
  // A client that disconnects during a call that would never end.
  async (url, slug) => {
    const abort = new AbortController();
    const name = `${slug}__hang`;
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name };
    const call = post(url, 'tools/call', { name, _meta: meta }, headers, abort.signal);
    // It is aborted here, or has failed because its server is being killed.
    const ended = call.then((response) => response.arrayBuffer()).catch(() => {});
    await new Promise((next) => setTimeout(next, 20));
    abort.abort();
    await ended;
  },
];

/** Starts a gateway and waits until it has seen all its servers. */
async function start(config: string, report: string): Promise<HttpGateway> {
  const environment = { NODE_OPTIONS: `--import=${hook}`, HEAP_REPORT: report };
  const gateway = await startHttp(home, ['--config', config], environment);
  const client = await connect(gateway.url);
  const tools = slugs.map((slug) => `${slug}__pid`);
  await expect.poll(() => toolNames(client), { timeout: 60_000 }).toEqual(expect.arrayContaining(tools));
  await client.close();
  return gateway;
}

test.skipIf(process.platform !== 'linux')(
  `${rounds} rounds leave no process, handle or memory behind`,
  { timeout: isFullRun ? 3_600_000 : 240_000 },
  async () => {
    // The word finds the servers of this test, whatever became of the process that started them.
    const word = home.file('soak');
    const report = home.file('heap.json');
    const mooring = { restart: { minMs: 10, maxMs: 100, tries: 1_000, withinMs: 1_000 } };
    const entry = { command: process.execPath, args: [script, word], mooring };
    const config = writeConfig(home, { mcpServers: Object.fromEntries(slugs.map((slug) => [slug, entry])) });
    const readReport = async (): Promise<HeapReport> => {
      const before = readFileSync(report, { flag: 'a+', encoding: 'utf8' });
      await expect.poll(() => readFileSync(report, 'utf8'), { timeout: 30_000 }).not.toBe(before);
      return JSON.parse(readFileSync(report, 'utf8')) as HeapReport;
    };

    let gateway = await start(config, report);
    let base: { readonly files: number; readonly heap: HeapReport } | undefined;
    let inThisLife = 0;
    const growth: object[] = [];

    const settle = async (): Promise<void> => {
      const pid = gateway.child.pid as number;
      await expect.poll(() => processesWith(word).length, { timeout: 30_000 }).toBeLessThanOrEqual(slugs.length);
      if (base === undefined) return;
      const { files, heap } = base;
      // Connections that clients keep open for their next request end by themselves.
      await expect.poll(() => openFiles(pid), { timeout: 60_000 }).toBeLessThanOrEqual(files + 2 * atOnce);
      const now = await readReport();
      growth.push({ rounds: inThisLife, heapBytes: now.heapBytes - heap.heapBytes, files: openFiles(pid) - files });
      expect(now.heapBytes - heap.heapBytes).toBeLessThan(toleratedBytes);
      expect(now.handles - heap.handles).toBeLessThanOrEqual(2 * atOnce);
    };

    for (let done = 0; done < rounds; done += atOnce) {
      const { url } = gateway;
      await Promise.all(
        Array.from({ length: atOnce }, (_, i) => {
          const round = done + i;
          const way = ways[round % ways.length] as (typeof ways)[number];
          return way(url, slugs[round % slugs.length] as string);
        }),
      );
      inThisLife += atOnce;
      const after = done + atOnce;
      if (inThisLife === warmUp) base = { files: openFiles(gateway.child.pid as number), heap: await readReport() };
      if (after % killServerEvery === 0) {
        const [victim] = processesWith(word);
        if (victim !== undefined) process.kill(victim, 'SIGKILL');
      }
      if (after % killGatewayEvery === 0 && after < rounds) {
        await settle();
        gateway.child.kill('SIGKILL');
        await expect.poll(() => processesWith(word), { timeout: 30_000 }).toEqual([]);
        gateway = await start(config, report);
        [base, inThisLife] = [undefined, 0];
      }
    }
    await settle();
    gateway.child.kill('SIGTERM');
    await expect.poll(() => processesWith(word), { timeout: 30_000 }).toEqual([]);
    if (isFullRun) console.info('soak', JSON.stringify(growth));
  },
);
