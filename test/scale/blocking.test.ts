// With Redis: hundreds of tasks with long results on one session neither end the process nor keep another caller waiting. The
// built program runs with a small heap.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { ada, mallory, useAttackedServer } from '../support/attacked-server.ts';
import { postText } from '../support/attacker.ts';
import { useClosers } from '../support/closers.ts';
import type { HttpTestClient } from '../support/http-client.ts';
import { expectOthersServed } from '../support/other-caller.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { writeToolPlugin } from '../support/tool-plugin.ts';

const { home, open, start } = useAttackedServer({ MOORING_KEY: randomBytes(32).toString('base64') });
const closers = useClosers(afterEach);
const version = '2025-11-25';

/** A tool whose result is long. */
const long = "{ task: { support: 'optional' }, run: () => 'x'.repeat(5_000_000) }";

/** Sends its last argument on many connections, and reads the responses. In a process of its own, because that keeps it busy. */
const attack = `
  import { connect } from 'node:net';
  const [port, count, request] = process.argv.slice(2);
  for (let id = 10; id < 10 + Number(count); id++) {
    connect(Number(port), '127.0.0.1').on('error', () => {}).resume().write(request.replace('"id":10', '"id":' + id));
  }`;

async function onOneSession(client: HttpTestClient, port: number, count: number, params: object): Promise<void> {
  const session = await client.initialize({ version, headers: mallory });
  const accepted = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': version };
  const headers = { ...accepted, ...mallory, 'Mcp-Session-Id': session };
  const request = JSON.stringify({ jsonrpc: '2.0', id: 10, method: 'tools/call', params });
  writeFileSync(home.file('attack.mjs'), attack);
  const args = [home.file('attack.mjs'), String(port), String(count), postText(port, headers, request)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  open.push({ destroy: () => child.kill('SIGKILL') });
  await setTimeout(300);
}

describe.skipIf(!hasRedis())('with Redis', { timeout: 120_000 }, () => {
  // Encrypted and stored, another caller waits for one to two seconds; before there were turns, for nineteen, or the process ended.
  test('300 tasks with long results on one session', async () => {
    const redis = await startRedis();
    closers.push(() => redis.close());
    const server = await start('--config', writeToolPlugin(home, 'long', long), '--store', redis.url);
    const { port, client, peak } = server;
    const session = await client.initialize({ version, headers: ada });
    const listInSession = (other: HttpTestClient) => other.session(session, 'tools/list', {}, { headers: ada });
    const params = { name: 'long', arguments: {}, task: { ttl: 600_000 } };
    const caller = { maxMs: 8_000, send: listInSession, forMs: 2_000 };
    await expectOthersServed(server, () => onOneSession(client, port, 300, params), caller);
    expect(peak()).toBeLessThan(450);
  });
});
