// MCP Apps in a console that is not on a loopback address: the sandbox has another name of the same server.

import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createConsole } from '../../src/console/index.ts';
import { createServer, toNodeHandler } from '../../src/index.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { useClosers } from '../support/closers.ts';
import { HttpTestClient, modernBody, modernHeaders } from '../support/http-client.ts';
import { ConsoleClient } from './console-client.ts';
import { appScript } from './fixtures/app-script.ts';

const closers = useClosers();
const uri = 'ui://port/panel';

/** A server with the names localhost and apps.localhost, which browsers look up as loopback addresses. */
async function start() {
  let handle: RequestListener = () => {};
  const http = createHttpServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const server = createServer({ name: 'port', version: '1.0.0', logger: false });
  server.app(uri, { html: `<!doctype html><body><script>${appScript}</script><p id="result"></p>` });
  server.tool('berth', { ui: uri, run: () => 'berth 7' });
  const page = createConsole(server, { sandboxOrigin: `http://apps.localhost:${port}` });
  const handler = toNodeHandler(server, { mounts: [page.mount], publicUrl: `http://localhost:${port}/mcp` });
  handle = handler;
  closers.push(
    () => http.closeAllConnections(),
    () => new Promise((resolve) => http.close(resolve)),
    () => page.close(),
  );
  return { port, link: page.link(`http://localhost:${port}`) };
}

test('under the name of the sandbox there are only the pages of apps', async () => {
  const { port, link } = await start();
  const opened = await new ConsoleClient(link).post<{ readonly url: string }>('apps', { uri });
  const { origin, pathname } = new URL(opened.url);
  expect(origin).toBe(`http://apps.localhost:${port}`);
  const client = new HttpTestClient(port);
  closers.push(() => client.close());
  const sandbox = { Host: `apps.localhost:${port}` };
  const view = await client.send({ method: 'GET', path: pathname, headers: sandbox });
  expect(view.status).toBe(200);
  expect(view.headers['content-security-policy']).toContain(`frame-ancestors http://localhost:${port}`);
  for (const path of ['/console/', '/console/api/state', '/console/sandbox/other/']) {
    expect((await client.send({ method: 'GET', path, headers: sandbox })).status, path).toBe(404);
  }
  const call = { method: 'POST', path: '/mcp', body: modernBody('tools/list') } as const;
  const headers = modernHeaders('tools/list');
  expect((await client.send({ ...call, headers: { ...headers, Host: `localhost:${port}` } })).status).toBe(200);
  expect((await client.send({ ...call, headers: { ...headers, ...sandbox } })).status).toBe(403);
});

describe.skipIf(!hasBrowser)('in a browser', () => {
  test('the app is shown on the origin of the sandbox', async () => {
    const { port, link } = await start();
    const browser = await startBrowser();
    closers.push(() => browser.close());
    const { page, problems } = await openPage(browser, link);
    await page.getByText('Live').waitFor();
    await page.evaluate(() => location.assign('#/tools/berth'));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const frames = page.getByRole('region', { name: 'App', exact: true }).frameLocator('iframe').frameLocator('iframe');
    await frames.locator('#result', { hasText: 'berth 7' }).waitFor();
    expect(new URL(page.frames()[1]?.url() ?? '').origin).toBe(`http://apps.localhost:${port}`);
    expect(problems.filter((problem) => !problem.includes(`http://apps.localhost:${port}/console/sandbox/`))).toEqual(
      [],
    );
  });
});

test('an origin with a path is rejected', () => {
  const server = createServer({ name: 'port', version: '1.0.0', logger: false });
  expect(() => createConsole(server, { sandboxOrigin: 'https://apps.example.com/x' })).toThrow('is not an origin');
});
