// The distribution's Chromium, driven by Playwright: the one without windows, which opens a page in a third of the processor time, or
// the usual one where only that is installed.

import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { ensureProgram, findProgram } from './programs.ts';

/** Whether tests with a browser can run; with CI=true a missing one is a failure. */
export const hasBrowser = findProgram('chromium') !== undefined || ensureProgram('chromium-headless-shell');

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findProgram('chromium-headless-shell') ?? (findProgram('chromium') as string),
    // Chromium does not use its sandbox as root, and containers have a small /dev/shm.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

/** What went wrong on a page: errors, violations of its policy, requests to other origins. */
export interface Watched {
  readonly page: Page;
  readonly problems: string[];
}

/** A page that records every error, every violation of the security policy and every request to another origin. */
export async function openPage(browser: Browser, link: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en-GB', ...options });
  const page = await context.newPage();
  // Shorter than a test may take, so that a failure names what was waited for.
  page.setDefaultTimeout(20_000);
  const problems: string[] = [];
  const { origin } = new URL(link);
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // A lost connection is part of some tests; the browser logs it by itself.
    if (message.type() === 'error' && !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|401/.test(message.text())) {
      problems.push(`console: ${message.text()}`);
    }
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:' && url.protocol !== 'blob:') {
      problems.push(`request: ${request.url()}`);
    }
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      throw new Error(`policy violation: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  await page.goto(link);
  return { page, problems };
}
