// The pictures of the console in the documentation. `npm run docs:images` makes them again; otherwise only their presence and
// size are checked.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { withPalette } from '../support/palette-png.ts';
import { FakeConsole } from './fixtures/fake-console.ts';

const folder = resolve(import.meta.dirname, '../../docs/images');
const maxBytes = 60_000;

interface Image {
  readonly name: string;
  readonly address: string;
  readonly theme: 'light' | 'dark';
  readonly prepare?: (page: Page) => Promise<void>;
}

const images: readonly Image[] = [
  { name: 'console-timeline', address: '#/timeline?entry=26', theme: 'light' },
  {
    name: 'console-tool',
    address: '#/tools/book_berth',
    theme: 'dark',
    prepare: async (page) => {
      await page.getByLabel('ship', { exact: true }).fill('Aurora');
      await page.getByLabel('length', { exact: true }).fill('42');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('region', { name: 'Result' }).getByRole('tab', { name: 'Table' }).click();
      await page.getByRole('region', { name: 'Result' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'console-input',
    address: '#/tools/ask',
    theme: 'light',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByLabel('Port of departure').fill('Kiel');
      await page.getByLabel('grain').check();
    },
  },
  { name: 'console-metrics', address: '#/metrics', theme: 'dark' },
];

test('the documentation has a small picture of each', () => {
  for (const { name } of images) {
    const { length } = readFileSync(join(folder, `${name}.png`));
    expect(length, name).toBeGreaterThan(5_000);
    expect(length, name).toBeLessThanOrEqual(maxBytes);
  }
});

describe.skipIf(!hasBrowser || process.env['MOORING_IMAGES'] !== '1')('pictures of the console', () => {
  test('are made again', async () => {
    mkdirSync(folder, { recursive: true });
    const browser = await startBrowser();
    const fake = await new FakeConsole().open();
    for (const { name, address, theme, prepare } of images) {
      const viewport = { width: 1180, height: 720 };
      const { page, problems } = await openPage(browser, fake.link, {
        viewport,
        colorScheme: theme,
        reducedMotion: 'reduce',
      });
      await page.getByText('Live').waitFor();
      await page.evaluate((to) => location.assign(to), address);
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      await page.locator('.list-row, form, .chart canvas').first().waitFor();
      await prepare?.(page);
      // Charts and dialogs are drawn with the next frames.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const picture = withPalette(await page.screenshot());
      expect(picture.length, name).toBeLessThanOrEqual(maxBytes);
      writeFileSync(join(folder, `${name}.png`), picture);
      expect(problems).toEqual([]);
      await page.context().close();
    }
    await browser.close();
    await fake.close();
  }, 180_000);
});
