// The page without a mouse, without sight, in both themes and on small screens.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { FakeConsole } from './fixtures/fake-console.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const addresses = [
  '#/overview',
  '#/timeline?entry=7',
  '#/tools',
  '#/tools/book_berth',
  '#/tools/shapes',
  '#/resources/harbour%3A%2F%2Fships%2F%7Bname%7D',
  '#/prompts/welcome',
  '#/skills/skill%3A%2F%2Fharbour%2Fmooring%2FSKILL.md',
  '#/tasks',
  '#/tasks/7d0c9f2e-1',
  '#/sessions',
  '#/upstreams',
  '#/metrics',
  '#/audit',
  '#/auth',
  '#/about',
  '#/nowhere',
];

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

describe.skipIf(!hasBrowser)('the page of the console for everybody', () => {
  let browser: Browser;
  let fake: FakeConsole;
  beforeAll(async () => {
    browser = await startBrowser();
    fake = await new FakeConsole().open();
  });
  afterAll(async () => {
    await browser?.close();
    await fake?.close();
  });

  async function go(page: Page, address: string): Promise<void> {
    await page.evaluate((to) => location.assign(to), address);
    await page.locator('main h1, main .empty').first().waitFor();
    await page.getByText('Loading…').waitFor({ state: 'detached' });
  }

  async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
    const { violations: found } = (await page.evaluate(
      `(async () => axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ["violations"] }))()`,
    )) as AxeResult;
    return found.map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes[0]?.html}`);
  }

  /** Themes differ in their colours only. */
  const rules = {
    light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    dark: ['color-contrast', 'link-in-text-block'],
  };

  test.each(['light', 'dark'] as const)(
    'no screen has a finding of axe in the %s theme',
    async (colorScheme) => {
      const { page } = await openPage(browser, fake.link, { colorScheme });
      await page.getByText('Live').waitFor();
      await page.evaluate(axe);
      const found: Record<string, string[]> = {};
      for (const address of addresses) {
        await go(page, address);
        const here = await violations(page, rules[colorScheme]);
        if (here.length > 0) found[address] = here;
      }
      await go(page, '#/tools/ask');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('dialog').waitFor();
      const inDialog = await violations(page, rules[colorScheme]);
      if (inDialog.length > 0) found['dialog'] = inDialog;
      expect(found).toEqual({});
      await page.context().close();
    },
    120_000,
  );

  test('a tool can be found, filled in and run with the keyboard only', async () => {
    const { page } = await openPage(browser, fake.link);
    await page.getByText('Live').waitFor();
    const press = (key: string) => page.keyboard.press(key);
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement as HTMLElement & { labels?: NodeListOf<HTMLLabelElement> };
        return element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent ?? '';
      });
    const tabTo = async (name: string): Promise<void> => {
      for (let presses = 0; presses < 80; presses++) {
        if ((await focused()).trim() === name) return;
        await press('Tab');
      }
      throw new Error(`${name} was not reached; the focus is on ${await focused()}`);
    };
    await tabTo('Tools');
    await press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Tools' }).waitFor();
    await tabTo('book_berth');
    await press('Enter');
    await page.getByRole('heading', { name: 'book_berth' }).waitFor();
    await tabTo('ship');
    await page.keyboard.type('Aurora');
    await tabTo('length');
    await page.keyboard.type('12');
    await tabTo('Run');
    await press('Enter');
    await page.getByRole('region', { name: 'Result' }).getByText('Done').waitFor();
    await page.context().close();
  });

  test('the focus can be seen wherever it goes', async () => {
    const { page } = await openPage(browser, `${fake.link}`);
    await page.getByText('Live').waitFor();
    await go(page, '#/tools/book_berth');
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab');
      const outline = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const styles = [getComputedStyle(element), getComputedStyle(element, '::after')];
        return (
          element === document.body ||
          styles.some((style) => style.outlineStyle !== 'none' && style.outlineWidth !== '0px')
        );
      });
      expect(outline, await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200))).toBe(true);
    }
    await page.context().close();
  });

  test('nothing is wider than a window of 320, 360, 1280 or 2560 pixels', async () => {
    const { page } = await openPage(browser, fake.link);
    await page.getByText('Live').waitFor();
    const wide: string[] = [];
    for (const address of addresses) {
      await go(page, address);
      for (const width of [320, 360, 1280, 2560]) {
        await page.setViewportSize({ width, height: 800 });
        await expect.poll(() => page.evaluate(() => innerWidth)).toBe(width);
        const excess = () =>
          page.evaluate(() => {
            const main = document.querySelector('main') as HTMLElement;
            return Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth);
          });
        // The table follows the size of the window in a later frame.
        const isWide = await expect
          .poll(excess, { timeout: 2_000 })
          .toBeLessThanOrEqual(0)
          .then(
            () => false,
            () => true,
          );
        if (isWide) wide.push(`${address}: ${await excess()} pixels too wide for ${width}`);
      }
    }
    expect(wide).toEqual([]);
    await page.context().close();
  });

  test('the timeline tells screen readers how many messages came', async () => {
    const own = await new FakeConsole({ messages: 10 }).open();
    const { page } = await openPage(browser, `${own.link}`);
    await page.getByText('Live').waitFor();
    // Counts what comes while the screen is open: the first messages must be there before.
    await go(page, '#/timeline');
    await page.getByRole('row').nth(1).waitFor();
    await go(page, '#/about');
    await go(page, '#/timeline');
    const last = own.entries.at(-1)?.number ?? 0;
    own.push([{ ...(own.entries[0] as (typeof own.entries)[number]), number: last + 1, requestEntry: undefined }]);
    await expect.poll(() => page.locator('[aria-live=polite]').textContent()).toMatch(/1 message, 0 errors/);
    await page.context().close();
    await own.close();
  });
});
