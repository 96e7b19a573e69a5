// An app that is made with the official library for apps, shown by the console.

import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConsole } from '../../src/console/index.ts';
import { createServer } from '../../src/index.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';

/** What an author writes. */
const source = `
import { App } from '@modelcontextprotocol/ext-apps/app-with-deps';
const app = new App({ name: 'official', version: '1.0.0' }, {});
const show = (id, value) => { document.getElementById(id).textContent = JSON.stringify(value); };
app.ontoolinput = (params) => show('input', params.arguments);
app.ontoolresult = async (result) => {
  show('result', result.structuredContent);
  show('called', await app.callServerTool({ name: 'refresh', arguments: {} }));
  await app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'said by the app' }] });
  await app.sendLog({ level: 'info', data: 'logged by the app' });
  show('context', { theme: app.getHostContext()?.theme, host: app.getHostVersion()?.name });
};
app.onteardown = async () => ({});
await app.connect();
`;

async function pageOf(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
    target: 'es2022',
  });
  const script = (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script');
  const places = ['input', 'result', 'called', 'context'].map((id) => `<p id="${id}"></p>`).join('');
  return `<!doctype html><meta charset="utf-8"><title>App</title><body>${places}<script type="module">${script}</script>`;
}

describe.skipIf(!hasBrowser)('an app of the official library', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test('connects, gets its data and calls its server', async () => {
    const server = createServer({ name: 'port', version: '1.0.0', logger: false });
    server.app('ui://port/official', { html: await pageOf(source) });
    server.tool('berth', {
      ui: 'ui://port/official',
      input: { type: 'object', properties: { ship: { type: 'string' } } },
      run: ({ ship }: { ship?: string }) => ({ content: [], structuredContent: { ship, berth: 7 } }),
    });
    server.tool('refresh', { ui: { resource: 'ui://port/official', visibility: ['app'] }, run: () => 'fresh' });
    const console = createConsole(server);
    const { link } = await console.listen();
    const { page, problems } = await openPage(browser, link);
    await page.getByText('Live').waitFor();
    await page.evaluate(() => location.assign('#/tools/berth'));
    await page.getByLabel('ship', { exact: true }).fill('Aurora');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const card = page.getByRole('region', { name: 'App', exact: true });
    const app = card.frameLocator('iframe').frameLocator('iframe');
    await app.locator('#input', { hasText: '{"ship":"Aurora"}' }).waitFor();
    await app.locator('#result', { hasText: '"berth":7' }).waitFor();
    await app.locator('#called', { hasText: 'fresh' }).waitFor();
    await app.locator('#context', { hasText: '"host":"mooring-console"' }).waitFor();
    await card.getByText('said by the app').waitFor();
    await card.getByText('logged by the app').waitFor();
    expect(problems.filter((problem) => !problem.startsWith('request: '))).toEqual([]);
    await page.context().close();
    await console.close();
  });
});
