// A caller that wants to be served while another one attacks.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { ada } from './attacked-server.ts';
import { isFullRun } from './full.ts';
import { HttpTestClient } from './http-client.ts';

/** It takes a tenth of this on an idle machine, and took up to ten seconds before there were turns. */
const maxWaitMs = 2_000;
/** On a busy machine it may take longer: so many times what a request takes without an attack. */
const maxWaitFactor = 20;
/** Whatever the server does meanwhile, a request may take so many times as long. */
const maxIdleFactor = 5;
/** Between two requests, which would otherwise be most of the work of the server. */
const pauseMs = 10;
/** How long the other caller sends requests after an attack. One that has to wait is waited for, however long it takes. */
const usualForMs = isFullRun ? 2_000 : 1_000;

type SendRequest = (client: HttpTestClient) => Promise<{ readonly status: number }>;

const listTools: SendRequest = (client) => client.modern('tools/list', {}, { headers: ada });

/** The server that is attacked. */
interface AttackedServer {
  readonly port: number;
  readonly pid: number;
}

/** How long the slowest request took. */
interface LongestWait {
  readonly wallMs: number;
  /** What the server worked meanwhile, at most as long as it took: other programs may keep it from working. */
  readonly workMs: number;
}

/** Another caller sends requests, on a new connection each, for a while. */
async function longestWait({ port, pid }: AttackedServer, forMs: number, send: SendRequest): Promise<LongestWait> {
  const client = new HttpTestClient(port, { keepAlive: false });
  const until = performance.now() + forMs;
  let wallMs = 0;
  let workMs = 0;
  while (performance.now() < until) {
    const since = performance.now();
    const worked = cpuMs(pid);
    expect((await send(client)).status).toBe(200);
    const tookMs = performance.now() - since;
    wallMs = Math.max(wallMs, tookMs);
    workMs = Math.max(workMs, Math.min(tookMs, cpuMs(pid) - worked));
    await sleep(pauseMs);
  }
  return { wallMs, workMs };
}

/** The CPU time of a process, in steps of 10 ms. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export interface OtherCaller {
  /** How long a request may take. */
  readonly maxMs?: number | undefined;
  readonly send?: SendRequest;
  /** How long it sends requests: longer where the server only then has as much memory as the attack takes. */
  readonly forMs?: number;
}

export async function expectOthersServed(
  server: AttackedServer,
  attack: () => Promise<void>,
  { maxMs = maxWaitMs, send = listTools, forMs = usualForMs }: OtherCaller = {},
): Promise<void> {
  const usual = await longestWait(server, 500, send);
  await attack();
  const { wallMs, workMs } = await longestWait(server, forMs, send);
  expect(workMs).toBeLessThan(maxMs);
  expect(wallMs).toBeLessThan((maxMs + usual.wallMs * maxWaitFactor) * maxIdleFactor);
}
