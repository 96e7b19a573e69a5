// Services that packs query and that respond with what takes memory or time: neither ends the process nor keeps another
// caller waiting. The built program runs with a small heap.

import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { createServer as createMcpServer } from '../../src/engine/server.ts';
import { research } from '../../src/packs/research/index.ts';
import { search } from '../../src/packs/search/index.ts';
import { ada, mallory, useAttackedServer } from '../support/attacked-server.ts';
import type { HttpTestClient } from '../support/http-client.ts';
import { expectOthersServed } from '../support/other-caller.ts';
import { TestClient } from '../support/test-client.ts';

const { home, open, start } = useAttackedServer();
vi.setConfig({ testTimeout: 120_000 });

/** Starts a profile whose services are all one local server. */
async function startWith(profile: string, respond: (response: ServerResponse, path: string) => void) {
  const service = createServer((request, response) => {
    response.on('error', () => {});
    response.setHeader('Content-Type', request.url?.startsWith('/arxiv') ? 'application/atom+xml' : 'application/json');
    respond(response, request.url ?? '');
  });
  await new Promise<void>((ready) => service.listen(0, '127.0.0.1', ready));
  open.push({
    destroy: () => {
      service.close();
      service.closeAllConnections();
    },
  });
  const at = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const limits = { attempts: 1, breakerThreshold: 1_000, minIntervalMs: 0 };
  const packs = {
    search: { backend: 'searxng', url: at, limits },
    research: { urls: { arxiv: `${at}/arxiv`, crossref: `${at}/crossref`, openalex: `${at}/openalex` }, limits },
  };
  const file = home.file('mooring.json');
  writeFileSync(file, JSON.stringify({ packs }), { mode: 0o600 });
  return start(profile, '--config', file);
}

async function call(client: HttpTestClient, name: string, args: object, headers = mallory): Promise<string> {
  const { json } = await client.modern('tools/call', { name, arguments: args }, { headers });
  const [content] = (json.result?.['content'] ?? []) as { text: string }[];
  return content?.text ?? '';
}

/** The responses of OpenAlex by query. */
const responses: Readonly<Record<string, string>> = {
  // Eighteen times as long in its normal form.
  title: JSON.stringify({ results: [{ title: '\ufdfa'.repeat(2_600_000) }] }),
  // A word of 150,000 characters at 2,000 places.
  abstracts: JSON.stringify({
    results: Array(40).fill({
      title: 'A title',
      abstract_inverted_index: { ['w'.repeat(150_000)]: [...Array(2000).keys()] },
    }),
  }),
  lists: `{"results":${'['.repeat(3_900_000)}${']'.repeat(3_900_000)}}`,
};

test('a source with a title, abstracts or lists that take far more memory or time than the response has bytes', async () => {
  const server = await startWith('empirical', (response, path) => {
    const query = new URL(path, 'http://localhost').searchParams.get('search') ?? '';
    response.writeHead(responses[query] === undefined ? 500 : 200).end(responses[query]);
  });
  const { client, peak } = server;
  const answers: Promise<string>[] = [];
  await expectOthersServed(server, async () => {
    for (const query of Object.keys(responses)) answers.push(call(client, 'search_literature', { query }));
  });
  const [title, abstracts, lists] = await Promise.all(answers);
  expect(JSON.parse(title as string).papers[0].title).toHaveLength(512);
  expect(JSON.parse(abstracts as string).papers[0].abstract).toHaveLength(2000);
  expect(lists).toContain('nested too deeply');
  expect(peak()).toBeLessThan(350);
});

test('300 searches at once of which each has a response that is too long', async () => {
  const long = Buffer.alloc(20 * 1024 * 1024, ' ');
  const server = await startWith('local', (response) => response.write(long));
  const { client, peak } = server;
  await expectOthersServed(server, async () => {
    for (let n = 0; n < 300; n++) void call(client, 'web_search', { query: `query ${n}` }).catch(() => {});
  });
  expect(await call(client, 'web_search', { query: 'x' }, ada)).toContain('exceeds the limit');
  expect(peak()).toBeLessThan(350);
});

test('of long responses only what is shown is cached', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const server = createMcpServer({ name: 'searches', version: '1' });
  const text = (): string => Buffer.alloc(1_000_000, 'x').toString('latin1');
  const title = (): string => text().slice(100, 200);
  const hit = () => ({ title: title(), url: 'https://example.org/', snippet: text() });
  const paper = () => ({ title: title(), authors: [text()], abstract: text() });
  await server.use(search({ backend: { name: 'own', search: async () => ({ hits: [hit()], more: false }) } }));
  await server.use(research({ sources: [{ name: 'own', search: async () => [paper()] }] }));
  const client = await TestClient.open(server);
  const queries = async (from: number, to: number): Promise<number> => {
    for (let n = from; n < to; n++) {
      await client.call('web_search', { query: `query ${n}` });
      await client.call('search_literature', { query: `query ${n}` });
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await queries(0, 5);
  expect((await queries(5, 50)) - before).toBeLessThan(20_000_000);
  await server.close();
});

test('a query for literature has at most 1,000 characters', async () => {
  const server = createMcpServer({ name: 'searches', version: '1' });
  await server.use(research({ sources: [{ name: 'own', search: async () => [] }] }));
  const client = await TestClient.open(server);
  const { result } = await client.call('search_literature', { query: 'x'.repeat(1_001) });
  expect(result).toMatchObject({ isError: true, content: [{ text: 'The query is longer than 1000 characters' }] });
  await server.close();
});
