// Walks through the page of the console in a browser, against a console with canned data.

import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { FakeConsole, type FakeOptions } from './fixtures/fake-console.ts';
import { screens, titleOf } from './fixtures/screens.ts';

describe.skipIf(!hasBrowser)('the page of the console', () => {
  let browser: Browser;
  const open: FakeConsole[] = [];
  const problemsOf: string[][] = [];

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    for (const fake of open.splice(0)) await fake.close();
    expect(problemsOf.splice(0).flat()).toEqual([]);
  });

  async function start(hash = '', options: FakeOptions = {}): Promise<{ page: Page; fake: FakeConsole }> {
    const fake = await new FakeConsole(options).open();
    open.push(fake);
    const { page, problems } = await openPage(browser, fake.link);
    problemsOf.push(problems);
    await page.getByText('Live').waitFor();
    if (hash !== '') await page.evaluate((to) => location.assign(to), hash);
    return { page, fake };
  }

  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const result = (page: Page) => page.getByRole('region', { name: 'Result' });
  const sent = (fake: FakeConsole, path: string): string | undefined =>
    fake.requests.findLast((request) => request.path === path)?.body;

  test('the token moves from the link to the storage of the tab', async () => {
    const { page, fake } = await start();
    expect(page.url()).toBe(`${fake.address}#/`);
    const stored = await page.evaluate(() => [
      JSON.stringify(sessionStorage),
      JSON.stringify(localStorage),
      document.cookie,
    ]);
    expect(stored[0]).toContain(fake.token);
    expect(stored.slice(1).join()).not.toContain(fake.token);
    await page.reload();
    await page.getByText('Live').waitFor();
  });

  test('a wrong token is said, and a right one can be entered', async () => {
    const fake = await new FakeConsole().open();
    open.push(fake);
    const { page } = await openPage(browser, `${fake.address}#t=wrong`);
    await page.getByText('The token is wrong').waitFor();
    await page.getByLabel('Token').fill(fake.token);
    await button(page, 'Open').click();
    await page.getByText('Live').waitFor();
  });

  test('every screen is a link with its plain name', async () => {
    const { page } = await start();
    for (const name of screens.filter((screen) => screen !== 'auth').map(titleOf)) {
      await link(page, name).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    }
  });

  test('a tool runs with what the form says, and the arguments are still there later', async () => {
    const { page, fake } = await start('#/tools');
    await link(page, 'book_berth').click();
    await page.getByLabel('ship', { exact: true }).fill('Aurora');
    await page.getByLabel('length', { exact: true }).fill('42.50');
    const cargo = page.getByRole('group', { name: 'cargo' });
    await button(page, 'Add').click();
    await cargo.getByLabel('name').fill('grain');
    await page.getByLabel('priority').check();
    await page.getByRole('group', { name: 'Contact person' }).getByLabel('null').check();
    await button(page, 'Run').click();
    await result(page).getByText('Done').waitFor();
    const { argumentsText } = JSON.parse(sent(fake, 'calls') as string) as { argumentsText: string };
    expect(JSON.parse(argumentsText)).toEqual({
      ship: 'Aurora',
      length: 42.5,
      cargo: [{ name: 'grain' }],
      contact: { phone: null },
      priority: true,
    });
    await result(page).getByRole('tab', { name: 'Structured' }).click();
    await result(page).getByText('9007199254740993').waitFor();
    await result(page).getByRole('tab', { name: 'Table' }).click();
    await result(page).getByRole('cell', { name: 'Borealis' }).waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel('ship', { exact: true }).inputValue()).toBe('Aurora');
  });

  test('a form shows every kind of field, and its JSON is the same value', async () => {
    const { page, fake } = await start('#/tools/shapes');
    await page.getByLabel('shape type').selectOption({ label: 'Circle' });
    await page.getByRole('group', { name: 'Circle' }).getByLabel('radius').fill('2');
    await page.getByLabel('id type').selectOption({ label: 'integer' });
    await page.getByLabel('id', { exact: true }).fill('7');
    await page.getByLabel('pair 1').fill('1.5');
    await page.getByLabel('pair 2').fill('x');
    await page.getByRole('group', { name: 'labels' }).getByRole('button', { name: 'Add' }).click();
    await page.getByLabel('Key', { exact: true }).fill('colour');
    await page.getByLabel('Value', { exact: true }).fill('red');
    await page.getByLabel('Tue').check();
    await page.getByLabel('big').fill('9007199254740993');
    await page.getByLabel('password').fill('hidden');
    const tree = page.getByRole('group', { name: 'tree' });
    await tree.getByLabel('name').first().fill('root');
    await tree.getByRole('button', { name: 'Show child' }).click();
    await tree.getByRole('group', { name: 'child' }).getByLabel('name').fill('leaf');
    await page.getByRole('tab', { name: 'JSON' }).click();
    const json = page.getByLabel('Arguments as JSON');
    expect(await json.inputValue()).toContain('"big": 9007199254740993');
    await json.fill((await json.inputValue()).replace('"x"', '"y"'));
    await page.getByRole('tab', { name: 'Form' }).click();
    expect(await page.getByLabel('pair 2').inputValue()).toBe('y');
    await button(page, 'Run').click();
    await result(page).getByText('Done').waitFor();
    const { argumentsText } = JSON.parse(sent(fake, 'calls') as string) as { argumentsText: string };
    expect(argumentsText).toContain('9007199254740993');
    expect(JSON.parse(argumentsText)).toMatchObject({
      shape: { kind: 'circle', radius: 2 },
      id: 7,
      pair: [1.5, 'y'],
      labels: { colour: 'red' },
      days: ['Tue'],
      tree: { name: 'root', child: { name: 'leaf' } },
      password: 'hidden',
    });
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('hidden');
  });

  test('what the validator says is beside its field', async () => {
    const { page } = await start('#/tools/book_berth');
    const length = page.getByLabel('length', { exact: true });
    await length.fill('abc');
    const said = async (): Promise<string | null> => {
      const described = (await length.getAttribute('aria-describedby'))?.split(' ').at(-1);
      return page.locator(`[id="${described}"]`).textContent();
    };
    // The server validates: until it has, the page says what was wrong with the empty field.
    await expect.poll(said).toMatch(/number/);
    expect(await length.getAttribute('aria-invalid')).toBe('true');
    await length.fill('3');
    await expect.poll(() => length.getAttribute('aria-invalid')).toBe('false');
  });

  test('text that is not JSON cannot be sent, and says where it is wrong', async () => {
    const { page } = await start('#/tools/book_berth');
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByLabel('Arguments as JSON').fill('{\n"ship": }');
    await page.getByText('line 2').waitFor();
    expect(await button(page, 'Run').isDisabled()).toBe(true);
  });

  test('input requests open dialogs: a form, then a message of a model', async () => {
    const { page, fake } = await start('#/tools/ask');
    await button(page, 'Run').click();
    await page.getByRole('dialog').getByText('Where do you come from?').waitFor();
    await button(page, 'Submit').click();
    await page.getByText('is required').waitFor();
    await page.getByLabel('Port of departure').fill('Kiel');
    await page.getByLabel('steel').check();
    await button(page, 'Submit').click();
    await page.getByRole('dialog').getByText('Greet the crew').waitFor();
    expect(JSON.parse(sent(fake, 'calls/call-1/input') as string)).toEqual({
      key: 'form',
      result: { action: 'accept', content: { port: 'Kiel', cargo: ['steel'] } },
    });
    await page.getByLabel('Message', { exact: true }).fill('Welcome!');
    await button(page, 'Submit').click();
    await result(page).getByText('Welcome!').waitFor();
  });

  test.each([
    ['Decline', 'decline'],
    ['Cancel', 'cancel'],
  ])('%s answers an input request with %s', async (name, action) => {
    const { page } = await start('#/tools/ask');
    await button(page, 'Run').click();
    await button(page, name).click();
    await result(page).getByText(`"action":"${action}"`).waitFor();
  });

  test('a running call shows its progress and can be cancelled', async () => {
    const { page } = await start('#/tools/wait');
    await button(page, 'Run').click();
    await result(page).getByText('3 of 10').waitFor();
    await button(page, 'Cancel').click();
    await result(page).getByText('Cancelled').waitFor();
  });

  test('a destructive tool asks first', async () => {
    const { page, fake } = await start('#/tools/release_all');
    await button(page, 'Run').click();
    await page.getByRole('dialog').getByText('may delete or overwrite').waitFor();
    await button(page, 'Cancel').click();
    expect(sent(fake, 'calls')).toBeUndefined();
    await button(page, 'Run').click();
    await button(page, 'Run anyway').click();
    await result(page).getByText('Done').waitFor();
  });

  test('a tool runs on all revisions, and what differs is marked', async () => {
    const { page } = await start('#/tools/fail');
    await button(page, 'Run').click();
    await result(page).getByText('This tool always fails').waitFor();
    await button(page, 'Run on all revisions and compare').click();
    await result(page).getByText('different').first().waitFor();
    expect(await result(page).getByText('same', { exact: true }).count()).toBe(3);
  });

  test('resources are read, templates are filled in', async () => {
    const { page, fake } = await start('#/resources');
    await link(page, 'harbour://map.png').click();
    await button(page, 'Read').click();
    await result(page).getByRole('img').waitFor();
    await link(page, 'harbour://ships/{name}').click();
    await page.getByLabel('name', { exact: true }).fill('Old Salt');
    await button(page, 'Read').click();
    await result(page).getByText('berths').first().waitFor();
    expect(sent(fake, 'calls')).toContain('harbour://ships/Old%20Salt');
  });

  test('skills are shown with their files, which lead to the resources', async () => {
    const { page, fake } = await start('#/skills');
    await link(page, 'skill://harbour/today/SKILL.md').click();
    await page.getByText('Its files are generated').waitFor();
    await link(page, 'skill://harbour/mooring/SKILL.md').click();
    await page.getByText('2 files, 3.3 kB').waitFor();
    await page.getByText('b2b2b2b2b2b2b2b2').waitFor();
    await button(page, 'Read').click();
    await expect.poll(() => sent(fake, 'calls')).toContain('skill://harbour/mooring/SKILL.md');
    await link(page, 'knots/bowline.md').click();
    await page.getByRole('heading', { name: 'skill://harbour/mooring/knots/bowline.md' }).waitFor();
  });

  test('prompts are filled in and shown as messages', async () => {
    const { page } = await start('#/prompts/welcome');
    await page.getByLabel('ship', { exact: true }).fill('Aurora');
    await page.getByRole('tab', { name: 'JSON' }).click();
    expect(JSON.parse(await page.getByLabel('Arguments as JSON').inputValue())).toEqual({ ship: 'Aurora' });
    await button(page, 'Get').click();
    await result(page).getByText('Welcome').waitFor();
  });

  test('the timeline joins request and response, filters, and opens rows by click and Enter', async () => {
    const { page } = await start('#/timeline');
    const rows = page.getByRole('grid').getByRole('row');
    await rows.nth(5).click();
    await page.getByRole('region', { name: 'Message' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Filter').fill('is:error method:tools/call');
    await page.getByText(/^\d+ rows of 120 messages$/).waitFor();
    expect(await page.locator('.list-row:not(.is-error)').count()).toBe(0);
    await rows.nth(1).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const details = page.getByRole('region', { name: 'Message' });
    await details.getByRole('region', { name: 'Response' }).getByText('Unknown berth').waitFor();
    expect(page.url()).toContain('is%3Aerror');
    await page.reload();
    await details.getByText('Unknown berth').waitFor();
  });

  test('the timeline follows its end until the reader scrolls up', async () => {
    const { page, fake } = await start('#/timeline', { messages: 400 });
    const scroller = page.locator('.list-scroller');
    const fromEnd = () =>
      scroller.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
    await expect.poll(fromEnd).toBeLessThan(30);
    await scroller.evaluate((element) => element.scrollTo(0, 800));
    await page.getByRole('button', { name: 'Follow' }).waitFor();
    fake.push(numbered(fake, 5));
    await page.getByRole('button', { name: '5 new messages' }).click();
    await expect.poll(fromEnd).toBeLessThan(30);
  });

  test('an export can be imported', async () => {
    const { page, fake } = await start('#/timeline', { messages: 50 });
    const download = page.waitForEvent('download');
    await button(page, 'Export').click();
    const path = await (await download).path();
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(50);
    await page.getByLabel('Recording to import').setInputFiles(path);
    await page.getByText('100 messages').waitFor();
    expect(fake.entries).toHaveLength(100);
  });

  test('a lost connection is said and recovered, without messages twice', async () => {
    const { page, fake } = await start('#/timeline', { messages: 20 });
    const { port } = fake;
    await fake.close();
    await page.getByText('The connection to the server is lost').waitFor();
    const again = new FakeConsole({ messages: 30 });
    open.splice(0, 1, await again.open(port));
    await page.getByText('Live').waitFor();
    await page.getByText('30 messages').waitFor();
  });

  test('messages that were dropped are counted', async () => {
    const { page, fake } = await start('#/timeline');
    fake.push([], { dropped: 17 });
    await page.getByText('17 messages not received').waitFor();
  });

  test('a task opens, and shows its steps', async () => {
    const { page } = await start('#/tasks');
    await link(page, 'survey_harbour').waitFor();
    await page.getByRole('region', { name: 'Working' }).getByRole('link', { name: 'unload_ship' }).click();
    await page.getByRole('dialog').getByText('Hatch opened').waitFor();
    await button(page, 'Close').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('the audit log leads to older lines and back', async () => {
    const { page } = await start('#/audit');
    await page.getByText('20 lines').waitFor();
    await button(page, 'Older lines').click();
    await page.getByText('4 lines', { exact: true }).waitFor();
    await button(page, 'Newest lines').click();
    await page.getByText('20 lines').waitFor();
    expect(await button(page, 'Newest lines').count()).toBe(0);
  });

  test('without the right to try, nothing can be run', async () => {
    const { page } = await start('#/tools/fail', { state: { rights: ['view'] } });
    await page.getByText('This console is read-only: tools cannot be run from here.').waitFor();
    expect(await button(page, 'Run').count()).toBe(0);
  });

  test('unredacted values and a lost target are said on every screen', async () => {
    const connection = { status: 'lost', target: 'node server.js', reason: 'it ended with code 1' } as const;
    const { page } = await start('#/tools', { state: { raw: true, mode: 'inspect', connection } });
    await page.getByText('Secrets are not redacted').waitFor();
    await page.getByText('it ended with code 1').waitFor();
  });

  test('Ctrl+K goes to a tool by name', async () => {
    const { page } = await start();
    await page.keyboard.press('Control+k');
    // At once, as people do: every letter goes into the dialog.
    await page.keyboard.type('berth');
    await page.getByRole('option', { name: 'book_berth' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'book_berth' }).waitFor();
  });

  /** New messages after the last one. */
  function numbered(fake: FakeConsole, count: number) {
    const last = fake.entries.at(-1)?.number ?? 0;
    return Array.from({ length: count }, (_, index) => ({
      ...(fake.entries[0] as (typeof fake.entries)[number]),
      number: last + index + 1,
      requestEntry: undefined,
      group: undefined,
    }));
  }
});
