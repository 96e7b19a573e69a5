// `mooring serve --http --workers N`: one port, several processes, which are replaced when they end.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { startProxy } from '../conformance/proxy.ts';
import { both, initializeBody } from '../support/http-client.ts';
import { childrenOf, type Program, startProgram } from '../support/workers.ts';

const programs: Program[] = [];
afterEach(async () => {
  for (const { child, exited } of programs.splice(0)) {
    child.kill('SIGKILL');
    await exited;
  }
});

function start(args: readonly string[], env: Record<string, string> = {}): Program {
  const program = startProgram(args, env);
  programs.push(program);
  return program;
}

const everything = ['everything', '--http', '--port', '0', '--workers', '2', '--metrics', '/metrics'];

/** A POST on a connection of its own. */
function post(url: string, body: object, session?: string): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Accept: both, Connection: 'close' };
  return fetch(url, {
    method: 'POST',
    headers: session === undefined ? headers : { ...headers, 'Mcp-Session-Id': session },
    body: JSON.stringify(body),
  });
}

async function initialize(url: string): Promise<string> {
  const response = await post(url, initializeBody('2025-11-25'));
  await response.text();
  return response.headers.get('mcp-session-id') as string;
}

const ping = async (url: string, session: string): Promise<number> => {
  const response = await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, session);
  await response.text();
  return response.status;
};

const metric = (text: string, name: string): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(name))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

describe('workers', () => {
  test('share port, sessions and metrics, and say where they listen once', { timeout: 60_000 }, async () => {
    const program = start(everything);
    const url = await program.url();
    expect(childrenOf(program.child.pid as number)).toHaveLength(2);
    const session = await initialize(url);
    for (let n = 0; n < 10; n++) expect(await ping(url, session)).toBe(200);
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    expect(metric(metrics, 'mooring_processes ')).toBe(2);
    expect(metric(metrics, 'mooring_requests_total{method="ping"')).toBe(10);
    expect(metrics.match(/^# TYPE mooring_requests_total/gm)).toHaveLength(1);
    const ended = await fetch(url, { method: 'DELETE', headers: { 'Mcp-Session-Id': session } });
    expect(ended.status).toBe(200);
    for (let n = 0; n < 4; n++) expect(await ping(url, session)).toBe(404);
    expect(program.lines.filter((line) => line.includes('listening on'))).toHaveLength(1);
    program.child.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    expect(childrenOf(program.child.pid as number)).toEqual([]);
  });

  test('one that is killed is replaced, and sessions continue', { timeout: 60_000 }, async () => {
    const program = start(everything);
    const url = await program.url();
    const session = await initialize(url);
    const [first] = childrenOf(program.child.pid as number);
    process.kill(first as number, 'SIGKILL');
    await expect.poll(() => program.lines.some((line) => line.includes('is replaced'))).toBe(true);
    const started = (): number[] => childrenOf(program.child.pid as number);
    await expect
      .poll(() => started().length === 2 && !started().includes(first as number), { timeout: 20_000 })
      .toBe(true);
    for (let n = 0; n < 6; n++) expect(await ping(url, session)).toBe(200);
  });

  test('one that is told to end finishes its calls and is replaced', { timeout: 60_000 }, async () => {
    const program = start(everything);
    await program.url();
    const [first] = childrenOf(program.child.pid as number);
    process.kill(first as number, 'SIGTERM');
    const started = (): number[] => childrenOf(program.child.pid as number);
    await expect
      .poll(() => started().length === 2 && !started().includes(first as number), { timeout: 20_000 })
      .toBe(true);
    expect(program.lines.filter((line) => line.includes('unexpectedly'))).toEqual([]);
  });

  test('end when the process that started them is killed', { timeout: 60_000 }, async () => {
    const program = start(everything);
    await program.url();
    const workers = childrenOf(program.child.pid as number);
    program.child.kill('SIGKILL');
    await program.exited;
    const running = (): number[] => workers.filter((pid) => isRunning(pid));
    await expect.poll(running, { timeout: 20_000 }).toEqual([]);
  });

  test('that find the process that started them gone do not serve by themselves', { timeout: 60_000 }, async () => {
    const program = start(everything, { MOORING_WORKER: '1' });
    expect(await program.exited).toBe(1);
    expect(program.lines.join('\n')).not.toContain('listening');
  });

  test('that fail again and again end the server with an error', { timeout: 90_000 }, async () => {
    const program = start(everything);
    await program.url();
    let isOver = false;
    void program.exited.then(() => {
      isOver = true;
    });
    const killAll = (): boolean => {
      for (const pid of childrenOf(program.child.pid as number)) process.kill(pid, 'SIGKILL');
      return isOver;
    };
    await expect.poll(killAll, { timeout: 60_000, interval: 100 }).toBe(true);
    expect(await program.exited).toBe(1);
    expect(program.lines.join('\n')).toContain('so the server stops');
  });

  test('that cannot start report the reason once', { timeout: 60_000 }, async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const program = start(['everything', '--http', '--port', String(port), '--workers', '2']);
    expect(await program.exited).toBe(1);
    expect(program.lines.filter((line) => line.includes(`Port ${port}`) && line.includes('in use'))).toHaveLength(1);
    taken.close();
  });
});

test.each([
  [['orchestrator', '--http', '--workers', '2'], 'orchestrator cannot be served with --workers'],
  [['everything', '--http', '--workers', '0'], '--workers must be a number from 1 to 256, or auto'],
])('%j is a usage error', async (args, message) => {
  const program = start(args);
  expect(await program.exited).toBe(2);
  expect(program.lines.join('\n')).toContain(message);
});

/** Also false for a process that has ended and that its parent has not asked about. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('requests of one client reach all workers through new connections', { timeout: 60_000 }, async () => {
  const program = start([...everything, '--log-level', 'debug']);
  const proxy = await startProxy(await program.url(), { freshConnections: true });
  const session = await initialize(proxy.url);
  for (let n = 0; n < 8; n++) expect(await ping(proxy.url, session)).toBe(200);
  const served = (worker: number): number =>
    program.lines.filter((line) => line.includes('path=/mcp') && line.includes(`worker=${worker}`)).length;
  await expect.poll(() => served(1) + served(2)).toBe(9);
  expect(Math.min(served(1), served(2))).toBeGreaterThanOrEqual(3);
  await proxy.close();
});
