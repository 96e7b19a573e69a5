// kill -9 at random moments, again and again: the chain holds, and whatever a client was answered is in the log.
// MOORING_KILL_ROUNDS sets how often; the default keeps the suite short.

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryAudit, verifyAudit } from '../../src/security/audit/index.ts';
import { isFullRun } from '../support/full.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const rounds = Number(process.env['MOORING_KILL_ROUNDS'] ?? (isFullRun ? 24 : 6));
let work = '';
let running: ChildProcess | undefined;

beforeAll(async () => {
  work = temporaryFolder();
  await build({
    entryPoints: [join(import.meta.dirname, 'fixtures/audited-server.ts')],
    outfile: join(work, 'server.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
});

afterAll(() => {
  running?.kill('SIGKILL');
});

/** Keeps calls in flight until the server is killed at some moment; returns what was answered. */
async function torment(directory: string, sync: string, round: number, atLeastMs = 20): Promise<string[]> {
  const child = spawn(process.execPath, [join(work, 'server.mjs'), directory, sync], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  running = child;
  child.stdin.on('error', () => {}); // It is killed while we write.
  const answered: string[] = [];
  let sent = 0;
  const send = (id: string, method: string, params: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  };
  const call = (): void => {
    const mark = `${round}-${sent++}`;
    send(mark, 'tools/call', { name: 'note', arguments: { mark } });
  };
  send('init', 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    let message: { id?: string; result?: unknown };
    try {
      message = JSON.parse(line);
    } catch {
      break; // The answer was cut in the middle: no client has it.
    }
    if (message.id === 'init') {
      for (let n = 0; n < 20; n++) call();
    } else {
      if (answered.length === 0) setTimeout(() => child.kill('SIGKILL'), atLeastMs + Math.random() * 120);
      answered.push(String(message.id));
      call();
    }
  }
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
  return answered;
}

test('no answered call is missing after kill -9, none is there twice, and the chain holds', {
  timeout: 120_000,
}, async () => {
  const directory = join(work, 'always');
  const answered: string[] = [];
  for (let round = 0; round < rounds; round++) answered.push(...(await torment(directory, 'always', round)));
  const results = await verifyAudit(directory);
  expect(results).toHaveLength(1);
  expect(results[0]?.broken).toBeUndefined();
  expect(readdirSync(directory).filter((each) => each.endsWith('.jsonl')).length).toBeGreaterThan(1);
  const logged: string[] = [];
  for await (const { arguments: args } of queryAudit(directory, { event: 'call' })) {
    logged.push((args as { mark: string }).mark);
  }
  const known = new Set(logged);
  expect(known.size).toBe(logged.length);
  expect(answered.length).toBeGreaterThan(rounds);
  expect(answered.filter((mark) => !known.has(mark))).toEqual([]);
});

test('with lines written in the background the chain still holds after kill -9', { timeout: 120_000 }, async () => {
  const directory = join(work, 'interval');
  // Lines are collected for 100 ms: some rounds end before the first are written, the later ones while more are.
  for (let round = 0; round < Math.ceil(rounds / 2); round++) await torment(directory, 'interval', round, round * 80);
  const [result] = await verifyAudit(directory);
  expect(result?.broken).toBeUndefined();
  expect(result?.lines).toBeGreaterThan(rounds / 2);
});
