// MCP Apps in the console, in a browser: an app that works, and one that tries everything it must not be able to do.

import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createConsole } from '../../src/console/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { ConsoleClient } from './console-client.ts';
import { appScript } from './fixtures/app-script.ts';

const uri = 'ui://port/panel';

describe.skipIf(!hasBrowser)('apps in the console', () => {
  let browser: Browser;
  const closing: { close(): unknown }[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    for (const each of closing.splice(0).reverse()) await each.close();
  });

  function portServer(body: string, csp: object = {}): Server {
    const server = createServer({ name: 'port', version: '1.0.0', logger: false });
    server.app(uri, { html: `<!doctype html><meta charset="utf-8"><body><script>${appScript}</script>${body}`, csp });
    const input = { type: 'object', properties: { ship: { type: 'string' } } } as const;
    const run = ({ ship }: { ship?: string }) => ({
      content: [{ type: 'text' as const, text: `berth of ${ship}` }],
      structuredContent: { ship },
    });
    server.tool('berth', { ui: uri, input, run });
    server.tool('refresh', { ui: { resource: uri, visibility: ['app'] }, run: () => 'fresh' });
    server.tool('sink', { ui: { resource: uri, visibility: ['model'] }, run: () => 'sunk' });
    server.tool('ask', {
      run: async (_args, ctx) => {
        const form = { type: 'object', properties: { name: { type: 'string' } } } as const;
        const answer = await ctx.elicit('Your name?', form);
        return answer.action === 'accept' ? `Hello ${answer.content['name']}` : answer.action;
      },
    });
    server.resource('note://one', { name: 'one', read: () => 'first note' });
    return server;
  }

  async function start(body: string, csp?: object) {
    const page = createConsole(portServer(body, csp));
    closing.push(page);
    const { link, origin } = await page.listen();
    const opened = await openPage(browser, link);
    await opened.page.getByText('Live').waitFor();
    await opened.page.evaluate(() => location.assign('#/tools/berth'));
    await opened.page.getByLabel('ship', { exact: true }).fill('Aurora');
    const client = new ConsoleClient(link);
    return { ...opened, origin, client, token: client.token };
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const card = (page: Page) => page.getByRole('region', { name: 'App', exact: true });
  /** The frame of the app, within that of the sandbox. */
  const app = (page: Page) => card(page).frameLocator('iframe').frameLocator('iframe');

  async function frameOf(page: Page): Promise<Frame> {
    await expect.poll(() => page.frames().length).toBe(3);
    return page.frames().find((frame) => frame.parentFrame()?.parentFrame() != null) as Frame;
  }

  test('an app gets the arguments and the result, calls tools, reads resources, and is in the timeline', async () => {
    const { page, origin } = await start('<p id="input"></p><p id="result"></p><p id="theme"></p>');
    await button(page, 'Run').click();
    await app(page).locator('#input', { hasText: 'Aurora' }).waitFor();
    await app(page).locator('#result', { hasText: 'berth of Aurora' }).waitFor();
    await app(page).locator('#theme', { hasText: 'light' }).waitFor();
    const frame = await frameOf(page);
    expect(new URL(page.frames()[1]?.url() ?? '').origin).not.toBe(origin);
    const call = (method: string, params: object) =>
      // biome-ignore lint/suspicious/noExplicitAny: a function of the app
      frame.evaluate(([name, given]) => (globalThis as any).request(name, given), [method, params] as const);
    expect(await call('tools/call', { name: 'refresh', arguments: {} })).toMatchObject({
      result: { content: [{ text: 'fresh' }] },
    });
    expect(await call('resources/read', { uri: 'note://one' })).toMatchObject({
      result: { contents: [{ text: 'first note' }] },
    });
    expect(await call('tools/call', { name: 'sink', arguments: {} })).toMatchObject({
      error: { message: 'The tool "sink" is not for apps' },
    });
    expect(await call('tools/list', {})).toMatchObject({ error: { code: -32601 } });
    expect(await call('ping', {})).toMatchObject({ result: {} });
    expect(await call('ui/request-display-mode', { mode: 'fullscreen' })).toMatchObject({ result: { mode: 'inline' } });
    await call('ui/message', { role: 'user', content: [{ type: 'text', text: 'moor here' }] });
    await call('ui/update-model-context', { structuredContent: { berth: 7 } });
    const events = card(page).getByRole('list', { name: 'Events of the app' });
    await events.getByText('moor here').waitFor();
    await events.getByText('"berth":7').waitFor();
    // A tool that asks opens the dialog of the console.
    const asked = call('tools/call', { name: 'ask', arguments: {} });
    await page.getByRole('dialog').getByLabel('name', { exact: true }).fill('Ada');
    await button(page, 'Submit').click();
    expect(await asked).toMatchObject({ result: { content: [{ text: 'Hello Ada' }] } });
    await card(page).getByLabel('App theme').selectOption('dark');
    await app(page).locator('#theme', { hasText: 'dark' }).waitFor();
    await page.evaluate(() => location.assign('#/timeline?q=peer:app'));
    await page.getByText('ui/initialize').first().waitFor();
    await page.getByText('ui/notifications/tool-result').first().waitFor();
  });

  test('a link and a file need a click', async () => {
    const { page } = await start('<p id="input"></p>');
    await button(page, 'Run').click();
    await app(page).locator('#input', { hasText: 'Aurora' }).waitFor();
    const frame = await frameOf(page);
    const call = (method: string, params: object) =>
      // biome-ignore lint/suspicious/noExplicitAny: a function of the app
      frame.evaluate(([name, given]) => (globalThis as any).request(name, given), [method, params] as const);
    expect(await call('ui/open-link', { url: 'javascript:alert(1)' })).toMatchObject({ error: { code: -32602 } });
    const denied = call('ui/open-link', { url: 'https://example.com/' });
    await button(page, 'Deny').click();
    expect(await denied).toMatchObject({ error: { code: -32000 } });
    const resource = { uri: 'file:///log.txt', mimeType: 'text/plain', text: 'moored' };
    const saved = call('ui/download-file', { contents: [{ type: 'resource', resource }] });
    const download = page.waitForEvent('download');
    await button(page, 'Save').click();
    expect((await download).suggestedFilename()).toBe('log.txt');
    expect(await saved).toMatchObject({ result: {} });
  });

  test('an app that is closed is told, and answers before it is gone', async () => {
    const { page, client } = await start('<p id="input"></p>');
    await button(page, 'Run').click();
    await app(page).locator('#input', { hasText: 'Aurora' }).waitFor();
    await button(page, 'Close app').click();
    await card(page).waitFor({ state: 'detached' });
    await expect.poll(() => page.frames().length).toBe(1);
    const feed = await client.feed();
    const answer = await feed.until(({ entries }) =>
      entries.find(({ method, kind }) => method === 'ui/resource-teardown' && kind === 'response'),
    );
    expect(answer).toMatchObject({ direction: 'in', outcome: 'ok' });
    expect(feed.peers.get(answer.peer)).toMatchObject({ transport: 'app', client: 'panel 1.0.0' });
    feed.close();
  });

  test('a hostile app reaches neither the console nor its token, nor another origin', async () => {
    const requests: string[] = [];
    const elsewhere = createHttpServer((request, response) => {
      requests.push(request.url ?? '');
      response.setHeader('Access-Control-Allow-Origin', '*').end('x');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    closing.push({ close: () => new Promise((resolve) => elsewhere.close(resolve)) });
    const other = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const { page, origin, token } = await start('<p id="input"></p>');
    await button(page, 'Run').click();
    await app(page).locator('#input', { hasText: 'Aurora' }).waitFor();
    const frame = await frameOf(page);
    const outcomes = await frame.evaluate(
      async ([console, another]) => {
        const attempt = async (action: () => unknown): Promise<string> => {
          try {
            return `allowed: ${String(await action())}`;
          } catch (error) {
            return (error as Error).name;
          }
        };
        const loads = (element: HTMLElement, attribute: 'src' | 'href', url: string) =>
          attempt(
            () =>
              new Promise((resolve, reject) => {
                element.onload = resolve;
                element.onerror = () => reject(new TypeError('blocked'));
                element.setAttribute(attribute, url);
                document.body.append(element);
              }),
          );
        const style = Object.assign(document.createElement('link'), { rel: 'stylesheet' });
        return {
          console: await attempt(() => (top as Window).document.title),
          storage: await attempt(() => (top as Window).sessionStorage.length),
          ownStorage: await attempt(() => JSON.stringify(sessionStorage) + JSON.stringify(localStorage)),
          api: await attempt(() => fetch(`${console}/console/api/state`)),
          apiOfSandbox: await attempt(() => fetch('/console/api/state')),
          fetch: await attempt(() => fetch(`${another}/fetch`)),
          beacon: await attempt(() => navigator.sendBeacon(`${another}/beacon`, 'x')),
          socket: await attempt(
            () =>
              new Promise((resolve, reject) => {
                const socket = new WebSocket(another.replace('http', 'ws'));
                socket.onopen = resolve;
                socket.onerror = () => reject(new TypeError('blocked'));
              }),
          ),
          image: await loads(document.createElement('img'), 'src', `${another}/image`),
          script: await loads(document.createElement('script'), 'src', `${another}/script`),
          style: await loads(style, 'href', `${another}/style`),
          popup: await attempt(() => open(`${another}/popup`)),
          topLocation: await attempt(() => {
            (top as Window).location.href = `${another}/top`;
          }),
          eval: await attempt(() => new Function('return 1')()),
        };
      },
      [origin, other] as const,
    );
    expect(outcomes).toEqual({
      console: 'SecurityError',
      storage: 'SecurityError',
      ownStorage: 'allowed: {}{}',
      api: 'TypeError',
      apiOfSandbox: 'TypeError',
      fetch: 'TypeError',
      beacon: expect.stringMatching(/allowed: (true|false)|Error/),
      socket: expect.stringMatching(/Error/),
      image: 'TypeError',
      script: 'TypeError',
      style: 'TypeError',
      popup: 'allowed: null',
      topLocation: 'SecurityError',
      eval: 'EvalError',
    });
    // What it blocked is listed for the author.
    await card(page).getByText('connect-src', { exact: false }).first().waitFor();
    // Forms, frames and navigation, of the app and of the sandbox around it: none leaves the machine's two origins.
    await frame.evaluate((another) => {
      const form = Object.assign(document.createElement('form'), { action: `${another}/form`, method: 'post' });
      const inner = Object.assign(document.createElement('iframe'), { src: `${another}/frame` });
      document.body.append(form, inner);
      form.submit();
      const outer = parent as Window & { eval(code: string): unknown };
      for (const target of ['location', 'parent.location']) {
        try {
          outer.eval(`${target}.href = ${JSON.stringify(`${another}/navigation`)}`);
        } catch {
          // Blocked at once.
        }
      }
    }, other);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    expect(requests).toEqual([]);
    expect(new URL(page.url()).origin).toBe(origin);
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).toContain(token);
  });

  test('messages of an app that are none, too large or too many do not disturb the console', async () => {
    const { page, problems, origin } = await start('<p id="input"></p>');
    await button(page, 'Run').click();
    await app(page).locator('#input', { hasText: 'Aurora' }).waitFor();
    const frame = await frameOf(page);
    const answers = await frame.evaluate(async (host) => {
      const send = (message: unknown) => parent.postMessage(message, '*');
      for (const each of [null, 1, 'x', [], {}, { jsonrpc: '2.0' }, { jsonrpc: '2.0', method: {} }]) send(each);
      send({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-resource-ready', params: { html: 'x' } });
      send({ jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: 1e9, width: 'x' } });
      // Straight to the console, past the sandbox: not from the window it reads.
      (top as Window).postMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sink' } }, host);
      // biome-ignore lint/suspicious/noExplicitAny: a function of the app
      const { request } = globalThis as any;
      const large = await request('tools/call', { name: 'refresh', arguments: { x: 'x'.repeat(5_000_000) } });
      const many = await Promise.all(
        Array.from({ length: 40 }, () => request('tools/call', { name: 'refresh', arguments: {} })),
      );
      return { large, rejected: many.filter((each: { error?: object }) => each.error !== undefined).length };
    }, origin);
    expect(answers.large).toMatchObject({ error: { message: 'The message is too large' } });
    expect(answers.rejected).toBe(24);
    await page.evaluate(() => location.assign('#/tools/berth'));
    await button(page, 'Run').click();
    await app(page).locator('#input', { hasText: 'Aurora' }).waitFor();
    expect(problems.filter((problem) => !problem.startsWith('request: '))).toEqual([]);
  });

  test('only declared origins are allowed', async () => {
    const elsewhere = createHttpServer((_request, response) => {
      response.setHeader('Access-Control-Allow-Origin', '*').end('data');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    closing.push({ close: () => new Promise((resolve) => elsewhere.close(resolve)) });
    const other = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const { page } = await start('<p id="input"></p>', { connectDomains: [other] });
    await button(page, 'Run').click();
    await app(page).locator('#input', { hasText: 'Aurora' }).waitFor();
    const frame = await frameOf(page);
    const text = await frame.evaluate(async (url) => (await fetch(`${url}/data`)).text(), other);
    expect(text).toBe('data');
  });
});
