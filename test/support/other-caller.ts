// A caller that wants to be served while another one attacks.

import { expect } from 'vitest';
import { ada } from './attacked-server.ts';
import { HttpTestClient } from './http-client.ts';

/** It takes a tenth of this on an idle machine, and took up to ten seconds before there were turns. */
const maxWaitMs = 2_000;
/** On a busy machine it may take longer: so many times what a request takes without an attack. */
const maxWaitFactor = 20;

type SendRequest = (client: HttpTestClient) => Promise<{ readonly status: number }>;

const listTools: SendRequest = (client) => client.modern('tools/list', {}, { headers: ada });

/** Another caller sends requests, on a new connection each, for a while. Returns how long the slowest took. */
async function longestWait(port: number, forMs: number, send: SendRequest): Promise<number> {
  const client = new HttpTestClient(port, { keepAlive: false });
  const until = performance.now() + forMs;
  let longestMs = 0;
  while (performance.now() < until) {
    const since = performance.now();
    expect((await send(client)).status).toBe(200);
    longestMs = Math.max(longestMs, performance.now() - since);
  }
  return longestMs;
}

export async function expectOthersServed(
  port: number,
  attack: () => Promise<void>,
  maxMs: number = maxWaitMs,
  send: SendRequest = listTools,
): Promise<void> {
  const usualMs = await longestWait(port, 500, send);
  await attack();
  expect(await longestWait(port, 2_000, send)).toBeLessThan(maxMs + usualMs * maxWaitFactor);
}
