// A busy server: the page stays responsive, its memory limited, and every message is accounted for.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { FakeConsole } from './fixtures/fake-console.ts';
import { entries } from './fixtures/fake-data.ts';

/** MOORING_TEST_LONG=1 sends them at 1,000 per second; otherwise as fast as the page takes them. */
const isPaced = process.env['MOORING_TEST_LONG'] === '1';
const messages = 100_000;
const perBatch = 100;

/** On the page: the longest time in which it did not respond. */
declare const measured: { longest: number };

describe.skipIf(!hasBrowser)('100,000 messages', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test('are all counted, while the page stays responsive and its memory limited', async () => {
    const fake = await new FakeConsole({ messages: 0 }).open();
    const { page, problems } = await openPage(browser, fake.link);
    await page.getByText('Live').waitFor();
    await page.evaluate(() => location.assign('#/timeline'));
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    // The longest time in which the page did not respond.
    await page.evaluate(() => {
      Object.assign(globalThis, { measured: { longest: 0 } });
      let last = performance.now();
      const tick = (): void => {
        const now = performance.now();
        measured.longest = Math.max(measured.longest, now - last);
        last = now;
        setTimeout(tick);
      };
      tick();
    });
    const all = entries(messages, (text) => text);
    const count = (received: number) =>
      page.getByRole('status').filter({ hasText: `${received.toLocaleString('en-US')} messages` });
    const heap = async (): Promise<number> => {
      const session = await page.context().newCDPSession(page);
      const longest = await page.evaluate(() => measured.longest);
      await session.send('HeapProfiler.collectGarbage');
      // The collection is the test's, not the page's.
      return page.evaluate((known) => {
        measured.longest = known;
        return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize;
      }, longest);
    };
    const system = await browser.newBrowserCDPSession();
    /** Seconds of processor time of the page's process: unlike durations, the same on a busy machine. */
    const processorSeconds = async (): Promise<number> => {
      const { processInfo } = await system.send('SystemInfo.getProcessInfo');
      return Math.max(...processInfo.filter(({ type }) => type === 'renderer').map(({ cpuTime }) => cpuTime));
    };
    const started = await processorSeconds();
    let before = 0;
    for (let at = 0; at < messages; at += perBatch) {
      fake.push(all.slice(at, at + perBatch));
      // They are not read again.
      fake.entries.length = 0;
      if (isPaced) await new Promise((resolve) => setTimeout(resolve, perBatch));
      else if (at % 2_000 === 0) await count(at + perBatch).waitFor();
      if (at === messages / 2) before = await heap();
    }
    await count(messages).waitFor();
    const shown = (await count(messages).textContent()) as string;
    const removed = Number(/([\d,]+) older/.exec(shown)?.[1]?.replaceAll(',', ''));
    expect(removed).toBeGreaterThanOrEqual(messages - 20_000);
    expect(await page.getByText('not received').count()).toBe(0);
    // The newest message is the last row, and few rows are in the document.
    expect(await page.locator('.list-row').count()).toBeLessThan(100);
    const after = await heap();
    expect(after, `${before} bytes at half time`).toBeLessThan(before * 1.5 + 10_000_000);
    const longest = await page.evaluate(() => measured.longest);
    const seconds = (await processorSeconds()) - started;
    console.log(
      `processor ${seconds.toFixed(1)} s, longest task ${Math.round(longest)} ms, heap ${Math.round(after / 1e6)} MB`,
    );
    // It still answers.
    await page.getByLabel('Filter').fill('is:error');
    await page.getByText(/rows of 100,000 messages/).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
    await fake.close();
  }, 300_000);
});
