// Apps of a server: resources with metadata, tools that name them, and what clients of each revision see of both.

import { expect, test } from 'vitest';
import { createServer, type Server } from '../../src/index.ts';
import { TestClient } from '../support/test-client.ts';

const uri = 'ui://weather/panel';
const html = '<!doctype html><title>Weather</title>';
const csp = { connectDomains: ['https://api.example.com'], resourceDomains: ['https://*.example.com'] };

function weather(): Server {
  const server = createServer({ name: 'weather', version: '1.0.0', logger: false });
  server.app(uri, { title: 'Weather', html, csp, permissions: { geolocation: {} }, prefersBorder: true });
  server.tool('forecast', { ui: uri, _meta: { 'com.example/x': 1 }, run: (_args, ctx) => String(ctx.can('ui')) });
  server.tool('refresh', { ui: { resource: uri, visibility: ['app'] }, run: () => 'fresh' });
  return server;
}

const ui = { csp, permissions: { geolocation: {} }, prefersBorder: true };
const mimeType = 'text/html;profile=mcp-app';

test('an app is read with its metadata, and is not listed', async () => {
  const client = await TestClient.open(weather());
  const { result } = await client.request('resources/read', { uri });
  expect(result.contents).toEqual([{ uri, mimeType, text: html, _meta: { ui } }]);
  expect((await client.request('resources/list')).result.resources).toEqual([]);
});

test('an app can be listed, and its page made for each read', async () => {
  const server = createServer({ name: 'weather', version: '1.0.0', logger: false });
  let reads = 0;
  server.app(uri, { name: 'panel', html: async () => `<p>${++reads}</p>`, listed: true, prefersBorder: false });
  const client = await TestClient.open(server);
  const { resources } = (await client.request('resources/list')).result;
  expect(resources).toEqual([{ uri, name: 'panel', mimeType, _meta: { ui: { prefersBorder: false } } }]);
  await client.request('resources/read', { uri });
  expect((await client.request('resources/read', { uri })).result.contents[0].text).toBe('<p>2</p>');
});

test.each([
  ['2025-03-26', undefined],
  ['2025-06-18', { resourceUri: uri }],
  ['2025-11-25', { resourceUri: uri }],
])('%s: a tool names its app where tools have _meta', async (revision, expected) => {
  const client = await TestClient.open(weather(), revision);
  const { tools } = (await client.request('tools/list')).result;
  expect(tools[0]._meta?.ui).toEqual(expected);
  if (expected === undefined) return;
  expect(tools[0]._meta['com.example/x']).toBe(1);
  expect(tools[1]._meta.ui).toEqual({ resourceUri: uri, visibility: ['app'] });
});

test('a handler knows whether the client shows apps', async () => {
  const extensions = (mimeTypes: string[]) => ({ extensions: { 'io.modelcontextprotocol/ui': { mimeTypes } } });
  for (const [capabilities, expected] of [
    [{}, 'false'],
    [extensions(['text/x-other']), 'false'],
    [extensions([mimeType]), 'true'],
  ] as const) {
    const client = await TestClient.open(weather(), '2025-11-25', capabilities);
    const { result } = await client.request('tools/call', { name: 'forecast', arguments: {} });
    expect(result.content[0].text).toBe(expected);
  }
});

test('what is wrong with an app is said when it is registered', () => {
  const server = createServer({ name: 'weather', version: '1.0.0', logger: false });
  const run = (): string => '';
  expect(() => server.app('https://weather/panel', { html })).toThrow(/begins with ui:/);
  expect(() => server.app(uri, { html: '' })).toThrow(/HTML document/);
  expect(() => server.app(uri, { html: 'x'.repeat(1024 * 1024 + 1) })).toThrow(/larger than/);
  for (const origin of ["https://a.example; script-src 'unsafe-eval'", '*', 'https://a.example/path', "'self'", '']) {
    expect(() => server.app(uri, { html, csp: { connectDomains: [origin] } })).toThrow(/is not an origin/);
  }
  expect(() => server.tool('forecast', { ui: uri, run })).toThrow(/register it first/);
  server.app(uri, { html });
  expect(() => server.tool('forecast', { ui: { resource: uri, visibility: [] }, run })).toThrow(/visibility/);
  server.tool('forecast', { ui: uri, run });
});

test('an app of a mounted server is on the outer one', async () => {
  const outer = createServer({ name: 'outer', version: '1.0.0', logger: false });
  outer.mount('weather', weather());
  const client = await TestClient.open(outer);
  const { tools } = (await client.request('tools/list')).result;
  expect(tools[0]).toMatchObject({ name: 'weather_forecast', _meta: { ui: { resourceUri: uri } } });
  expect((await client.request('resources/read', { uri })).result.contents[0].text).toBe(html);
  expect((await client.request('resources/list')).result.resources).toEqual([]);
});
