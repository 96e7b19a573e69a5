// One change, announced in one process, reaches all open streams of all processes once.
import { afterAll, expect, test } from 'vitest';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { both, initializeBody } from '../support/http-client.ts';
import { ManyStreams } from './support/many-streams.ts';
import { startScheduleProgram } from './support/program.ts';

const closers = useClosers(afterAll);
/** MOORING_STREAMS=10000 for as many as one process accepts by default. */
const count = Number(process.env['MOORING_STREAMS'] ?? (isFullRun ? 2_000 : 600));
const token = (stream: number): string => `principal${stream % 10}-token-${'x'.repeat(20)}`;

test.skipIf(process.platform !== 'linux')(
  `a change reaches ${count} streams on two processes, each of them once`,
  { timeout: 240_000 },
  async () => {
    const tokens = Array.from({ length: 10 }, (_, n) => `principal${n}:${token(n)}`).join(',');
    const program = await startScheduleProgram(['--workers', '2'], { MOORING_TOKEN: tokens });
    closers.push(() => program.close());
    const many = await ManyStreams.open(program.address, 'memo://1', count, token);
    closers.push(() => many.close());
    for (let change = 1; change <= 3; change++) {
      const sentAtMs = performance.now();
      await touch(program.address);
      await expect.poll(() => many.streams.filter(({ told }) => told < change).length, { timeout: 30_000 }).toBe(0);
      const lastMs = Math.max(...many.streams.map(({ lastToldAtMs }) => lastToldAtMs)) - sentAtMs;
      console.info(`change ${change}: ${count} streams were told within ${Math.round(lastMs)} ms`);
    }
    expect(new Set(many.streams.map(({ told }) => told))).toEqual(new Set([3]));
  },
);

async function touch(url: string): Promise<void> {
  const headers = { Accept: both, 'Content-Type': 'application/json', Authorization: `Bearer ${token(0)}` };
  const post = (body: object, more = {}) =>
    fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const opened = await post(initializeBody('2025-11-25'));
  await opened.text();
  const session = { 'Mcp-Session-Id': opened.headers.get('mcp-session-id') as string };
  const params = { name: 'touch', arguments: { uri: 'memo://1' } };
  await (await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session)).text();
}
