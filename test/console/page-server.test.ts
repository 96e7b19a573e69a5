// The page and the real console together: input requests on both eras, the messages of every transport at once, a recording
// that shows the same, and the program's own link.

import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createConsole } from '../../src/console/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { useHome } from '../support/program.ts';
import { serveWires, statelessKinds, wireKinds } from '../support/wires.ts';
import { screens, titleOf } from './fixtures/screens.ts';
import { endOf, startConsole } from './program.ts';

describe.skipIf(!hasBrowser)('the page with the real console', () => {
  const home = useHome();
  let browser: Browser;
  const open: { close(): unknown }[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    for (const each of open.splice(0).reverse()) await each.close();
  });

  function portServer(): Server {
    const server = createServer({ name: 'port', version: '1.0.0', logger: false });
    server.tool('echo', {
      input: { type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer', minimum: 1 } } },
      run: ({ text }: { text?: string }) => text ?? '',
    });
    server.tool('greet', {
      run: async (_args, ctx) => {
        const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
        const answer = await ctx.elicit('Your name?', form);
        return answer.action === 'accept' ? `Hello ${answer.content['name']}` : answer.action;
      },
    });
    server.tool('think', {
      run: async (_args, ctx) => {
        const messages = [{ role: 'user', content: { type: 'text', text: 'Think of a number' } }] as const;
        const { content } = await ctx.sample({ messages: [...messages], maxTokens: 10 });
        return JSON.stringify(content);
      },
    });
    server.tool('waits', {
      run: async (_args, ctx) => {
        await ctx.progress(1, 3, 'started');
        await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
      },
    });
    server.resource('note://one', { name: 'one', read: () => 'first note' });
    server.prompt('hello', {
      args: { who: { complete: (value) => ['Ada', 'Alan'].filter((name) => name.startsWith(value)) } },
      get: ({ who }) => `Say hello to ${who}`,
    });
    return server;
  }

  async function start(hash: string) {
    const server = portServer();
    const console = createConsole(server);
    open.push(console);
    const { link } = await console.listen();
    const { page, problems } = await openPage(browser, link);
    await page.getByText('Live').waitFor();
    await page.evaluate((to) => location.assign(to), hash);
    return { server, page, problems };
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const result = (page: Page) => page.getByRole('region', { name: 'Result' });

  test.each(['2025-06-18', '2026-07-28'])('%s: elicitation and sampling are answered in dialogs', async (revision) => {
    const { page, problems } = await start('#/tools/greet');
    await page.getByLabel('Revision').selectOption(revision);
    await button(page, 'Run').click();
    await page.getByRole('dialog').getByText('Your name?').waitFor();
    await page.getByLabel('name', { exact: true }).fill('Ada');
    await button(page, 'Submit').click();
    await result(page).getByText('Hello Ada').waitFor();
    await page.evaluate(() => location.assign('#/tools/think'));
    await page.getByRole('heading', { name: 'think' }).waitFor();
    await button(page, 'Run').click();
    await page.getByRole('dialog').getByText('Think of a number').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Seven');
    await button(page, 'Submit').click();
    await result(page).getByText('Seven').first().waitFor();
    await result(page).getByText('Done').waitFor();
    await button(page, 'Run').click();
    await button(page, 'Decline').click();
    await result(page)
      .getByText(/Failed|Error/)
      .waitFor();
    expect(problems).toEqual([]);
  });

  test('a call is validated while it is typed, runs, is cancelled and compared', async () => {
    const { page, problems } = await start('#/tools/echo');
    await page.getByLabel('count').fill('0');
    await page.getByText('must be').waitFor();
    await page.getByLabel('count').fill('1');
    await page.getByLabel('text').fill('hi there');
    await button(page, 'Run').click();
    await result(page).getByText('hi there').waitFor();
    await result(page).getByRole('link', { name: 'Show messages' }).click();
    await page.getByRole('region', { name: 'Message', exact: true }).getByText('hi there').first().waitFor();
    await page.evaluate(() => location.assign('#/tools/echo'));
    await button(page, 'Run on all revisions and compare').click();
    await result(page).getByText('2024-11-05').waitFor();
    await page.evaluate(() => location.assign('#/tools/waits'));
    await page.getByRole('heading', { name: 'waits' }).waitFor();
    await button(page, 'Run').click();
    await result(page).getByText('1 of 3').waitFor();
    await button(page, 'Cancel').click();
    await result(page).getByText('Cancelled').waitFor();
    expect(problems).toEqual([]);
  });

  test('resources are read and prompts completed', async () => {
    const { page } = await start('#/resources/note%3A%2F%2Fone');
    await button(page, 'Read').click();
    await result(page).getByText('first note').waitFor();
    await page.evaluate(() => location.assign('#/prompts/hello'));
    await page.getByLabel('who').fill('A');
    await expect
      .poll(() => page.locator('datalist option').evaluateAll((all) => all.map((each) => each.getAttribute('value'))))
      .toEqual(['Ada', 'Alan']);
    await button(page, 'Get').click();
    await result(page).getByText('Say hello to A').waitFor();
  });

  test('clients of every transport and both eras are in one timeline, and a recording shows the same', async () => {
    const { server, page, problems } = await start('#/timeline?q=name%3Aecho');
    const wires = await serveWires(server);
    open.push(wires);
    let calls = 0;
    for (const kind of wireKinds) {
      const wire = await wires.connect(kind);
      await wire.request('tools/call', { name: 'echo', arguments: { text: `session ${kind}` } });
      calls += 1;
      if (!statelessKinds.includes(kind)) continue;
      await wire.stateless('tools/call', { name: 'echo', arguments: { text: `stateless ${kind}` } });
      calls += 1;
    }
    await page.getByText(new RegExp(`^${calls} rows of`)).waitFor();
    const shown = () =>
      page
        .locator('.list-row')
        .evaluateAll((rows) => rows.map((row) => [...row.children].slice(1).map((cell) => cell.textContent)));
    const before = await shown();
    expect(before).toHaveLength(calls);
    const download = page.waitForEvent('download');
    await button(page, 'Export').click();
    const path = await (await download).path();
    expect(readFileSync(path, 'utf8')).toContain('session stdio');

    const other = createConsole(createServer({ name: 'other', version: '1.0.0', logger: false }));
    open.push(other);
    const second = await openPage(browser, (await other.listen()).link);
    await second.page.getByText('Live').waitFor();
    await second.page.evaluate(() => location.assign('#/timeline?q=name%3Aecho'));
    await second.page.getByLabel('Recording to import').setInputFiles(path);
    await second.page.getByText(new RegExp(`^${calls} rows of`)).waitFor();
    const after = await second.page
      .locator('.list-row')
      .evaluateAll((rows) => rows.map((row) => [...row.children].slice(1).map((cell) => cell.textContent)));
    expect(after).toEqual(before);
    expect([...problems, ...second.problems]).toEqual([]);
  });

  test('every screen of the program shows something, without an error', async () => {
    const { child, said } = await startConsole(home, ['serve', 'everything', '--http', '--port', '0', '--console']);
    const { page, problems } = await openPage(browser, await said('console on '));
    await page.getByText('Live').waitFor();
    // This server has no sign-in, and no servers behind it.
    for (const name of screens.filter((screen) => screen !== 'auth' && screen !== 'upstreams').map(titleOf)) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      expect(await page.getByRole('alert').count(), name).toBe(0);
    }
    expect(problems).toEqual([]);
    child.kill('SIGTERM');
    await endOf(child);
  });
});
