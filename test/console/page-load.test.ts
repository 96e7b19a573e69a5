// A busy server: the page stays responsive, its memory limited, and every message is accounted for.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, connect, inMemory } from '../../src/client/index.ts';
import { createConsole } from '../../src/console/index.ts';
import { createServer } from '../../src/index.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';

const perSecond = 1_000;
const messages = isFullRun ? 100_000 : 3_000;
/** The page keeps this many, and removes some at a time. */
const maxKept = 20_000;
/** The longest that the page may work without a pause, in milliseconds of processor time: unlike durations, nearly the same on a busy machine. */
const maxTaskMs = 100;

/** Calls a tool so often that the server receives and sends that many messages in a second; each call has two. */
async function callAtRate(clients: readonly Client[], count: number): Promise<void> {
  const startedAt = performance.now();
  const text = 'x'.repeat(500);
  const calls: Promise<unknown>[] = [];
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, ((performance.now() - startedAt) / 1_000) * perSecond);
    for (; sent < due; sent += 2) {
      const name = sent % 200 === 0 ? 'fail' : 'echo';
      calls.push((clients[(sent / 2) % clients.length] as Client).callTool(name, { text }));
    }
    if (calls.length > 100) await Promise.all(calls.splice(0));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(calls);
}

const status = (page: Page) => page.getByRole('status').filter({ hasText: 'message' });
const figure = (text: string | null, pattern: RegExp): number =>
  Number(pattern.exec(text ?? '')?.[1]?.replaceAll(',', '') ?? 0);

describe.skipIf(!hasBrowser)(`${messages} messages at ${perSecond} per second`, () => {
  const closers = useClosers();
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test('are all counted, while the page stays responsive and its memory limited', async () => {
    const server = createServer({ name: 'busy', version: '1.0.0', logger: false });
    server.tool('echo', { input: { type: 'object' }, run: ({ text }) => String(text) });
    server.tool('fail', {
      input: { type: 'object' },
      run: () => ({ isError: true, content: [{ type: 'text' as const, text: 'failed' }] }),
    });
    const served = createConsole(server);
    const { link } = await served.listen();
    closers.push(() => served.close());
    let seen = 0;
    server.observe({ received: () => void seen++, sent: () => void seen++ });
    const clients = await Promise.all(
      ['2025-11-25', '2026-07-28'].map((revision) => connect(inMemory(server), { revision })),
    );
    for (const client of clients) closers.push(() => client.close());

    const { page, problems } = await openPage(browser, link);
    await page.getByText('Live').waitFor();
    await page.evaluate(() => location.assign('#/timeline'));
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    const before = await heap(page);
    const tasks = await traceTasks(page);
    const frames = await recordFrames(page);
    await callAtRate(clients, messages);
    // What the page received, and what it says it did not receive, are together what the server saw.
    const counted = async (): Promise<number> => {
      const missed = page.getByText('not received').first();
      const dropped = (await missed.count()) === 0 ? 0 : figure(await missed.textContent(), /([\d,]+) message/);
      return figure(await status(page).first().textContent(), /([\d,]+) message/) + dropped;
    };
    await expect.poll(counted, { timeout: 60_000 }).toBe(seen);
    const { count, p50, p95, largest } = await frames.end();
    const removed = figure(await status(page).first().textContent(), /([\d,]+) older/);
    expect(removed).toBeGreaterThanOrEqual(Math.max(0, messages - maxKept));
    // It still answers, and few rows are in the document.
    expect(await page.locator('.list-row').count()).toBeLessThan(100);
    await page.getByLabel('Filter').fill('is:error');
    await page.getByText(/rows of [\d,]+ messages/).waitFor();
    await page.getByLabel('Filter').fill('text:"no such text"');
    await page.getByText('No message matches the filter.').waitFor();
    const { longest, total } = await tasks.end();
    const after = await heap(page);
    console.log(
      `longest task ${longest.toFixed(1)} ms, all tasks ${(total / 1_000).toFixed(1)} s of processor time, ` +
        `heap ${Math.round(before / 1e6)} MB before and ${Math.round(after / 1e6)} MB after`,
    );
    console.log(
      `${count} frames, gaps of ${p50} ms at the median, ${p95} ms at the 95th percentile, ${largest} ms at most`,
    );
    // On a busy machine any gap may be long. The processor time of the longest task, above, says how long the page itself takes.
    expect(count).toBeGreaterThan(0);
    expect(longest).toBeGreaterThan(0);
    if (isFullRun) expect(longest).toBeLessThan(maxTaskMs);
    expect(after).toBeLessThan(before + 150_000_000);
    expect(problems).toEqual([]);
    await page.context().close();
  }, 300_000);
});

async function heap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

interface FrameGaps {
  readonly count: number;
  /** Milliseconds between two frames. */
  readonly p50: number;
  readonly p95: number;
  readonly largest: number;
}

/** Records the time between frames, by the clock of the wall. */
async function recordFrames(page: Page): Promise<{ end(): Promise<FrameGaps> }> {
  const recorder = await page.evaluateHandle(() => {
    const gaps: number[] = [];
    let before = performance.now();
    const onFrame = (): void => {
      const now = performance.now();
      gaps.push(now - before);
      before = now;
      request = requestAnimationFrame(onFrame);
    };
    let request = requestAnimationFrame(onFrame);
    return {
      end(): number[] {
        cancelAnimationFrame(request);
        return gaps;
      },
    };
  });
  return {
    async end() {
      const gaps = (await recorder.evaluate((each) => each.end())).sort((a, b) => a - b);
      const at = (share: number): number => Math.round(gaps[Math.floor((gaps.length - 1) * share)] ?? 0);
      return { count: gaps.length, p50: at(0.5), p95: at(0.95), largest: at(1) };
    },
  };
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time of the thread. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Records how long the main thread of the page works without a pause. */
async function traceTasks(page: Page): Promise<{ end(): Promise<{ longest: number; total: number }> }> {
  const browser = page.context().browser() as Browser;
  await browser.startTracing(page, { categories: ['toplevel'] });
  return {
    async end() {
      const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
      const isMain = new Set(
        traceEvents
          .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
          .map(({ pid, tid }) => `${pid} ${tid}`),
      );
      const times = traceEvents
        .filter(({ pid, tid, tdur }) => tdur !== undefined && isMain.has(`${pid} ${tid}`))
        .map(({ tdur }) => (tdur as number) / 1_000);
      return {
        longest: times.reduce((most, each) => Math.max(most, each), 0),
        total: times.reduce((sum, each) => sum + each, 0),
      };
    },
  };
}
