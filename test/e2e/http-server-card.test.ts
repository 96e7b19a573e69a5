// The server card and the catalog that lists it: what they contain, who can read them, and what is needed to publish them.

import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import {
  createServer,
  type HttpOptions,
  type Logger,
  type ServerOptions,
  serveHttp,
  toFetch,
  toNodeHandler,
} from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';

const closers = useClosers();
const catalogPath = '/.well-known/ai-catalog.json';
const serverCard = { name: 'com.example.team/weather', description: 'Forecasts for every place' };

function weather(options: Partial<ServerOptions> = {}) {
  const server = createServer({ name: 'weather', version: '1.2.0', instructions: 'inner knowledge', ...options });
  server.tool('secret_forecast', { description: 'hidden', visible: () => false, run: () => 'rain' });
  return server;
}

async function start(options: HttpOptions = {}, server = weather()) {
  return startHttp(closers, server, { serverCard, ...options });
}

describe('the card', () => {
  test('describes the server with what createServer and the option say', async () => {
    const repository = { url: 'https://github.com/example/weather', source: 'github', subfolder: 'servers/weather' };
    const icon = { src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] };
    const server = weather({ title: 'Weather', description: 'From createServer', websiteUrl: 'https://example.com' });
    const { client } = await start(
      { publicUrl: 'https://mcp.example.com', serverCard: { ...serverCard, repository, icons: [icon] } },
      server,
    );
    const { status, headers, text } = await client.send({ method: 'GET', path: '/mcp/server-card' });
    expect([status, headers['content-type']]).toEqual([200, 'application/mcp-server-card+json']);
    expect(JSON.parse(text)).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
      name: 'com.example.team/weather',
      version: '1.2.0',
      title: 'Weather',
      description: 'Forecasts for every place',
      websiteUrl: 'https://example.com',
      repository,
      icons: [icon],
      remotes: [
        {
          type: 'streamable-http',
          url: 'https://mcp.example.com/mcp',
          supportedProtocolVersions: server.revisions,
        },
      ],
    });
    expect(server.revisions).toContain('2026-07-28');
  });

  test('needs no option but `true` if the server has everything', async () => {
    const server = createServer({ name: 'com.example/notes', version: '1.0.0', description: 'Keeps notes' });
    const { http, client } = await start({ serverCard: true }, server);
    const card = JSON.parse((await client.send({ method: 'GET', path: '/mcp/server-card' })).text);
    expect(card).toMatchObject({ name: 'com.example/notes', description: 'Keeps notes' });
    expect(card.remotes[0].url).toBe(http.url);
    const connected = await connect(card.remotes[0].url);
    expect(connected.serverInfo?.name).toBe(card.name);
    await connected.close();
  });

  test('contains nothing about tools and instructions', async () => {
    const { client } = await start();
    const { text } = await client.send({ method: 'GET', path: '/mcp/server-card' });
    expect(text).toContain('Forecasts');
    expect(text).not.toMatch(/secret|hidden|knowledge|tools/);
  });

  test('is listed by the catalog', async () => {
    const { client } = await start({ publicUrl: 'https://example.com/weather/mcp' });
    const { status, headers, text } = await client.send({ method: 'GET', path: catalogPath });
    expect([status, headers['content-type']]).toEqual([200, 'application/ai-catalog+json']);
    expect(JSON.parse(text)).toEqual({
      specVersion: '1.0',
      entries: [
        {
          identifier: 'urn:air:team.example.com:mcp:weather',
          type: 'application/mcp-server-card+json',
          url: 'https://example.com/weather/mcp/server-card',
        },
      ],
    });
  });

  test('is below the path of the endpoint', async () => {
    const { client } = await start({ path: '/api/weather' });
    expect((await client.send({ method: 'GET', path: '/api/weather/server-card' })).status).toBe(200);
    const root = await start({ path: '/' });
    expect((await root.client.send({ method: 'GET', path: '/server-card' })).status).toBe(200);
    const { text } = await root.client.send({ method: 'GET', path: catalogPath });
    expect(JSON.parse(text).entries[0].url).toBe(`http://127.0.0.1:${root.http.port}/server-card`);
  });

  test('is off by default', async () => {
    for (const off of [undefined, false] as const) {
      const { client } = await startHttp(closers, weather(), off === undefined ? {} : { serverCard: off });
      expect((await client.send({ method: 'GET', path: '/mcp/server-card' })).status).toBe(404);
      expect((await client.send({ method: 'GET', path: catalogPath })).status).toBe(404);
    }
  });

  test('leaves the catalog to a route of the user', async () => {
    const own = { path: catalogPath, public: true, answer: () => ({ status: 200, body: 'mine' }) };
    const { client } = await start({ routes: [own] });
    expect((await client.send({ method: 'GET', path: catalogPath })).text).toBe('mine');
    expect((await client.send({ method: 'GET', path: '/mcp/server-card' })).status).toBe(200);
  });
});

describe.each(['/mcp/server-card', catalogPath])('%s', (path) => {
  test('is public, while the endpoint requires a token', async () => {
    const { client } = await start({ authenticate: () => undefined });
    expect((await client.send({ method: 'GET', path })).status).toBe(200);
    expect((await client.send({ method: 'POST', path: '/mcp', body: {} })).status).toBe(401);
  });

  test('can be read by pages of every origin, listed or not', async () => {
    const { client } = await start({ allowedOrigins: ['https://listed.example'] });
    for (const Origin of ['https://other.example', 'https://listed.example', 'null']) {
      const { status, headers } = await client.send({ method: 'GET', path, headers: { Origin } });
      expect([status, headers['access-control-allow-origin']]).toEqual([200, '*']);
      expect(headers['access-control-expose-headers']).toBe('ETag');
      expect(headers['vary']).toBeUndefined();
    }
    const asked = { Origin: 'https://other.example', 'Access-Control-Request-Headers': 'if-none-match' };
    const { status, headers } = await client.send({ method: 'OPTIONS', path, headers: asked });
    expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
    expect(headers['access-control-allow-methods']).toBe('GET');
    expect(headers['access-control-allow-headers']).toBe('Content-Type, If-None-Match');
    // The endpoint itself is as closed as before.
    expect((await client.send({ method: 'POST', path: '/mcp', body: {}, headers: asked })).status).toBe(403);
  });

  test('is cached, and has not changed for those who have its tag', async () => {
    const { client } = await start();
    const first = await client.send({ method: 'GET', path });
    expect(first.headers['cache-control']).toBe('public, max-age=3600');
    const tag = first.headers['etag'] as string;
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const { status, text, headers } = await client.send({ method: 'GET', path, headers: { 'If-None-Match': known } });
      expect([status, text, headers['etag']]).toEqual([304, '', tag]);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['content-length']).toBeUndefined();
    }
    for (const unknown of ['"other"', tag.slice(1, -1), '']) {
      const { status, text } = await client.send({ method: 'GET', path, headers: { 'If-None-Match': unknown } });
      expect([status, text]).toEqual([200, first.text]);
    }
    // The connection is still in step: a 304 without a body did not break it.
    expect((await client.send({ method: 'GET', path })).text).toBe(first.text);
  });

  test('has another tag if the content differs, and the same in another process', async () => {
    const publicUrl = 'https://mcp.example.com';
    const tagOf = async (options: HttpOptions) =>
      (await (await start({ publicUrl, ...options })).client.send({ method: 'GET', path })).headers['etag'];
    expect(await tagOf({})).toBe(await tagOf({}));
    expect(await tagOf({ serverCard: { ...serverCard, name: 'org.example/other' } })).not.toBe(await tagOf({}));
  });

  test('is served for GET and HEAD only', async () => {
    const { client } = await start();
    const head = await client.send({ method: 'HEAD', path });
    const { text } = await client.send({ method: 'GET', path });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(text.length)]);
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      const { status, headers } = await client.send({ method, path, body: {} });
      expect([status, headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  test('does not depend on the headers of the request', async () => {
    const { client } = await start({ publicUrl: 'https://mcp.example.com', allowedHosts: ['alias.example'] });
    const { text } = await client.send({ method: 'GET', path });
    const forged = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'http', Forwarded: 'host=evil.example' };
    const alias = await client.send({ method: 'GET', path, headers: { Host: 'alias.example', ...forged } });
    expect([alias.status, alias.text]).toEqual([200, text]);
    expect(text).toContain('https://mcp.example.com/mcp');
    const evil = await client.send({ method: 'GET', path, headers: { Host: 'evil.example' } });
    expect([evil.status, evil.headers['cache-control']]).toEqual([403, 'no-store']);
  });
});

describe('in an application', () => {
  const publicUrl = 'https://mcp.example.com';

  test('toNodeHandler serves both', async () => {
    const handler = toNodeHandler(weather(), { serverCard, publicUrl, allowedHosts: ['127.0.0.1'] });
    const http = createHttpServer((request, response) => handler(request, response));
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
    closers.push(
      () => new Promise((done) => http.close(done)),
      () => http.closeAllConnections(),
      () => handler.close(0),
    );
    const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const card = await fetch(`${origin}/mcp/server-card`);
    expect([card.status, card.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(await card.json()).toMatchObject({ remotes: [{ url: 'https://mcp.example.com/mcp' }] });
    const catalog = (await (await fetch(origin + catalogPath)).json()) as { entries: { url: string }[] };
    expect(catalog.entries[0]?.url).toBe('https://mcp.example.com/mcp/server-card');
  });

  test('toFetch serves both', async () => {
    const handle = toFetch(weather(), { serverCard, publicUrl });
    closers.push(() => handle.close(0));
    const card = await handle(new Request(`${publicUrl}/mcp/server-card`));
    expect(card.headers.get('content-type')).toBe('application/mcp-server-card+json');
    expect(await card.json()).toMatchObject({ name: serverCard.name });
    const known = { 'If-None-Match': card.headers.get('etag') as string };
    const again = await handle(new Request(`${publicUrl}/mcp/server-card`, { headers: known }));
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await handle(new Request(publicUrl + catalogPath))).status).toBe(200);
    expect((await handle(new Request(`${publicUrl}/mcp/server-card`, { method: 'POST' }))).status).toBe(405);
  });

  test('what is wrong is logged with the first request', async () => {
    const logged: unknown[] = [];
    const note = (_message: string, fields?: object): void => void logged.push(...Object.values(fields ?? {}));
    const log = {
      debug: note,
      info: note,
      notice: note,
      warn: note,
      error: note,
      child: () => log,
      enabled: () => false,
    };
    const handler = toNodeHandler(weather({ logger: log as unknown as Logger }), { publicUrl, serverCard: true });
    const http = createHttpServer((request, response) => handler(request, response));
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
    closers.push(
      () => new Promise((done) => http.close(done)),
      () => http.closeAllConnections(),
    );
    expect((await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)).status).toBe(500);
    expect(String(logged)).toContain('serverCard.name: "weather" is not a reverse-DNS name');
  });

  test('the address must be configured', () => {
    for (const create of [toFetch, toNodeHandler]) {
      expect(() => create(weather(), { serverCard })).toThrow(
        'serverCard: needs publicUrl, the address that clients use',
      );
      expect(() => create(weather(), { serverCard: false })).not.toThrow();
    }
  });
});

describe('a card that cannot be published stops the start', () => {
  const described = { description: 'Forecasts' };
  const wrong: [string, HttpOptions, RegExp][] = [
    [
      'the name of the server',
      { serverCard: described },
      /^serverCard\.name: "weather" is not a reverse-DNS .* can stay/,
    ],
    ['a name without a domain', { serverCard: { ...described, name: 'a/b' } }, /^serverCard\.name: "a\/b" is not/],
    ['two slashes', { serverCard: { ...described, name: 'com.example/a/b' } }, /"com\.example\/weather"$/],
    ['no description', { serverCard: { name: 'com.example/a' } }, /^serverCard\.description: is missing; say in/],
    ['a long description', { serverCard: { ...serverCard, description: 'x'.repeat(101) } }, /1 to 100 .* has 101/],
    ['an empty title', { serverCard: { ...serverCard, title: '' } }, /^serverCard\.title: must have 1 to 100/],
    ['a website without scheme', { serverCard: { ...serverCard, websiteUrl: 'example.com' } }, /websiteUrl: "example/],
    [
      'a password in the address of the repository',
      { serverCard: { ...serverCard, repository: { url: 'https://me:hunter2@example.com', source: 'git' } } },
      /^serverCard\.repository\.url: contains a user name or password; leave them out$/,
    ],
    [
      'a script as icon',
      { serverCard: { ...serverCard, icons: [{ src: 'javascript:1' }] } },
      /icons\.src: "javascript/,
    ],
    ['an unknown field', { serverCard: { ...serverCard, token: 'x' } as object }, /Unknown option token of serverCard/],
    ['a password in the public URL', { serverCard, publicUrl: 'https://a:hunter2@b.example' }, /cannot be published/],
    ['other names of the server', { serverCard, allowedHosts: ['mcp.example'] }, /Set .* the option publicUrl/],
    [
      'an address that clients may not know',
      { serverCard, host: '0.0.0.0', allowUnauthenticated: true },
      /^serverCard: the address of this server is not known\. Set the one that clients use with --public-url, such/,
    ],
  ];
  test.each(wrong)('%s', async (_what, options, message) => {
    const names = { optionNames: /--public-url/.test(message.source) ? { publicUrl: '--public-url' } : {} };
    const starting = serveHttp(weather(), { port: 0, ...names, ...options });
    const error: Error = await starting.then(
      (http) => http.close().then(() => new Error('it has started')),
      (reason) => reason,
    );
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('hunter2');
  });

  test('a range of versions', async () => {
    for (const version of ['^1.0.0', '>=1', '1.x', '1.*', '']) {
      const starting = serveHttp(weather({ version }), { port: 0, serverCard });
      await expect(starting).rejects.toThrow(/^serverCard\.version: .* is not a version/);
    }
  });
});
