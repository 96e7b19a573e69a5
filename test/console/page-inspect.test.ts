// `mooring inspect` in a browser, with a server of an older revision on stdio: the usual case.

import { resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inspectServer } from '../../src/console/inspect/index.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { useClosers } from '../support/closers.ts';

const everything = resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

describe.skipIf(!hasBrowser)('inspect in a browser', () => {
  const closers = useClosers();
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test('uses the revision that was negotiated, and sends what the form contains', async () => {
    const inspected = inspectServer([process.execPath, everything, 'stdio'], { label: 'everything', connect: {} });
    closers.push(() => inspected.close());
    // The page is opened before the server has responded.
    const { link } = await inspected.listen();
    const { page, problems } = await openPage(browser, link);
    await page.getByText('Live').waitFor();
    await page.evaluate(() => location.assign('#/tools/get-sum'));
    await page.getByLabel('a', { exact: true }).fill('2');
    await page.getByLabel('b', { exact: true }).fill('40');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('The sum of 2 and 40 is 42.').waitFor();
    expect(await page.getByLabel('Revision').locator('option:checked').textContent()).toBe('negotiated: 2025-11-25');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
