// Text that others choose stays text: whatever servers, clients and tools call themselves, nothing of it runs, and the page
// asks no other origin for anything.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { isFullRun } from '../support/full.ts';
import { FakeConsole } from './fixtures/fake-console.ts';
import { screens } from './fixtures/screens.ts';

/** Beginnings and ends of texts that would do something if they were not text. */
const payloads = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(2)</script>',
  '"><svg onload=alert(3)>',
  "' onfocus=alert(4) autofocus '",
  'javascript:alert(5)',
  '<iframe src="https://evil.example/">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '{{constructor.constructor("alert(6)")()}}',
  '<a href="javascript:alert(7)">click</a>',
  '![x](https://evil.example/x.png)',
  '</textarea><script>alert(8)</script>',
  '<style>*{background:url(https://evil.example/y)}</style>',
  '\u202e\u200b\u001b[31m',
];

/** Each by itself takes a minute; those that do not have to be at the beginning can follow each other. */
const first = (payload: string): boolean => payload.startsWith('javascript:');
const tried = isFullRun
  ? payloads
  : [payloads.filter((payload) => !first(payload)).join(''), ...payloads.filter(first)];

describe.skipIf(!hasBrowser)('hostile text in the console', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  /** Opens everything that opens, so that all text is on the page. */
  async function openAll(page: Page): Promise<void> {
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    const tabs = page.getByRole('tab');
    for (let index = 0; index < (await tabs.count()); index++) await tabs.nth(index).click();
  }

  test.each(tried.map((payload) => [payload]))('%j does nothing on any screen', async (payload) => {
    const fake = await new FakeConsole({ text: (text) => `${payload}${text}${payload}`, messages: 60 }).open();
    const { page, problems } = await openPage(browser, fake.link);
    try {
      await page.getByText('Live').waitFor();
      for (const screen of screens) {
        await page.evaluate((to) => location.assign(to), `#/${screen}`);
        await page.locator('main h1').waitFor();
        await openAll(page);
      }
      await page.evaluate((to) => location.assign(to), `#/tools/${encodeURIComponent(`${payload}moor${payload}`)}`);
      await button(page, 'Run').click();
      await page.getByRole('region', { name: 'Result' }).getByText('Done').waitFor();
      await openAll(page);
      await page.evaluate((to) => location.assign(to), '#/tools/ask');
      await button(page, 'Run').click();
      await page.getByRole('dialog').waitFor();
      await page.getByRole('dialog').getByRole('textbox').first().fill('x');
      await button(page, 'Submit').click();
      await page.getByRole('dialog').getByText('The whole request').waitFor();
      await page.evaluate((to) => location.assign(to), '#/timeline?entry=7');
      await page.getByRole('region', { name: 'Message', exact: true }).waitFor();
      // Elements that only a payload could have made.
      const made = await page.evaluate(
        () =>
          document.querySelectorAll(
            'script:not([src]), iframe, style, [onerror], [onload], [onfocus], a[href^="javascript:"]',
          ).length,
      );
      expect(made).toBe(0);
      expect(problems).toEqual([]);
    } finally {
      await page.context().close();
      await fake.close();
    }
  });

  test('hidden characters are shown', async () => {
    const fake = await new FakeConsole({ text: (text) => `${text}\u202e` }).open();
    const { page } = await openPage(browser, fake.link);
    await page.evaluate((to) => location.assign(to), '#/tools');
    await page.locator('mark', { hasText: '⟨U+202E⟩' }).first().waitFor();
    await page.context().close();
    await fake.close();
  });

  test('the policy blocks HTML from text, inline scripts and other origins', async () => {
    const fake = await new FakeConsole().open();
    const { page } = await openPage(browser, fake.link);
    await page.getByText('Live').waitFor();
    const outcomes = await page.evaluate(async () => {
      // What runs at once runs for the debugger, which the policy does not bind.
      const later = (action: () => unknown): Promise<unknown> =>
        new Promise((resolve, reject) => {
          setTimeout(() => {
            try {
              resolve(action());
            } catch (error) {
              reject(error);
            }
          });
        });
      const attempt = async (action: () => unknown): Promise<string> => {
        try {
          await action();
          return 'allowed';
        } catch (error) {
          return (error as Error).name;
        }
      };
      return [
        await attempt(() => document.body.insertAdjacentHTML('beforeend', '<b>x</b>')),
        await attempt(() => {
          document.body.innerHTML = '<b>x</b>';
        }),
        // biome-ignore lint/security/noGlobalEval: that it fails is what is tested.
        await attempt(() => later(() => eval('1'))),
        await attempt(() => fetch('https://evil.example/')),
      ];
    });
    expect(outcomes).toEqual(['TypeError', 'TypeError', 'EvalError', 'TypeError']);
    await page.context().close();
    await fake.close();
  });
});
