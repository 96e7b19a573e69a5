// Profile `empirical` through the wire: what its document observed in working servers, as requirements.

import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { empiricalRules, requireDescriptions } from '../../src/app/profiles/empirical-rules.ts';
import { connect } from '../../src/client/index.ts';
import { createServer, serveStdio } from '../../src/index.ts';
import { startFakeLibraries } from '../support/fake-libraries.ts';
import { afterwards, assemble, memoryLogger, useProfiles } from '../support/profile.ts';
import { cli, useHome } from '../support/program.ts';
import { TestClient } from '../support/test-client.ts';

useProfiles();
const home = useHome();

const old = '2024-11-05';

async function open() {
  const libraries = await startFakeLibraries();
  const limits = { attempts: 1, minIntervalMs: 0, backOffMs: 1 };
  const { server } = await assemble('empirical', { packs: { research: { urls: libraries.urls, limits } } });
  const client = await TestClient.open(server, old);
  const text = async (name: string, args?: object): Promise<string> => {
    const { result } = await client.call(name, args);
    expect(result.content).toHaveLength(1);
    return result.content[0].text;
  };
  return { server, client, libraries, text };
}

test('S3-4 S3-20: messages are JSON-RPC 2.0, and the server says its name and version', async () => {
  const { server } = await open();
  const client = new TestClient(server);
  const answer = await client.request('initialize', { protocolVersion: old, capabilities: {} }, 1);
  expect(answer).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      protocolVersion: old,
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'research-mcp-server', version: '1.0.0' },
    },
  });
});

test('S3-5 S3-7 S3-19: tools/list with empty params; every tool has name, description and an object schema', async () => {
  const { client } = await open();
  const { result } = await client.request('tools/list', {}, 1);
  expect(Object.keys(result)).toEqual(['tools']);
  expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(['search_literature', 'health_check']);
  for (const tool of result.tools) {
    expect(Object.keys(tool)).toEqual(['name', 'description', 'inputSchema']);
    expect(tool.inputSchema).toMatchObject({ type: 'object', properties: {}, required: expect.any(Array) });
  }
  expect(result.tools[0].inputSchema.properties.query.description).toContain('plain words');
});

test('S3-6: a tool without a description is not accepted', async () => {
  const server = createServer({ name: 'x', version: '1' });
  server.tool('mute', { run: () => 'x' });
  expect(() => requireDescriptions(server)).toThrow('The tool "mute" needs a description');
});

test('S3-8 S3-9 S3-10 S3-11 S3-25 S3-26: each kind of constraint is enforced before anything runs', async () => {
  const { client, libraries } = await open();
  const wrong: [object, string][] = [
    [{}, 'query'],
    [{ query: 5 }, 'query'],
    [{ query: '' }, 'query'],
    [{ query: 'x', max_results: 'ten' }, 'max_results'],
    [{ query: 'x', max_results: 0 }, 'max_results'],
    [{ query: 'x', max_results: 101 }, 'max_results'],
    [{ query: 'x', include_abstracts: 'yes' }, 'include_abstracts'],
    [{ query: 'x', years: 1999 }, 'years'],
    [{ query: 'x', years: { from: 'then' } }, 'from'],
    [{ query: 'x', sort: 'beauty' }, 'sort'],
    [{ query: 'x', sources: 'arxiv' }, 'sources'],
    [{ query: 'x', sources: ['arxiv', 3] }, 'sources'],
    [{ query: 'x', sources: ['sci-fi'] }, 'sources'],
  ];
  for (const [args, field] of wrong) {
    const { result, error } = await client.call('search_literature', args);
    expect(error).toBeUndefined();
    expect(result.isError, JSON.stringify(args)).toBe(true);
    expect(result.content[0].text).toMatch(/^Validation error: /);
    expect(result.content[0].text).toContain(field);
  }
  expect(libraries.asked).toHaveLength(0);
});

test('S3-12 S3-13 S3-33: a plain value is returned as one block of JSON text, indented by two', async () => {
  const { client } = await open();
  const { result } = await client.call('search_literature', { query: 'attention', max_results: 2 });
  expect(Object.keys(result)).toEqual(['content']);
  const [{ type, text }] = result.content;
  expect(type).toBe('text');
  expect(text).toBe(JSON.stringify(JSON.parse(text), null, 2));
  expect(JSON.parse(text).papers).toHaveLength(2);
});

test('S3-14: a failing handler is a result with JSON that names the error', async () => {
  const { client, libraries } = await open();
  for (const source of ['arxiv', 'crossref', 'openalex']) libraries.fail(source, 500);
  const { result, error } = await client.call('search_literature', { query: 'x' });
  expect(error).toBeUndefined();
  expect(result.isError).toBe(true);
  expect(JSON.parse(result.content[0].text)).toEqual({ error: expect.stringMatching(/^All sources failed: /) });
});

test('S3-15: what is thrown and is no error is made a text', async () => {
  const { server, text } = await open();
  for (const [name, thrown] of Object.entries({ word: 'bad luck', number: 42, nothing: null })) {
    server.tool(name, {
      description: name,
      run: () => {
        throw thrown;
      },
    });
    expect(JSON.parse(await text(name, {}))).toEqual({ error: String(thrown) });
  }
});

test('S3-16 S3-17 S3-19: resources of a scheme of its own are declared, listed with all fields, and read', async () => {
  const { server, client } = await open();
  const { result } = await new TestClient(server).request('initialize', { protocolVersion: old, capabilities: {} });
  expect(result.capabilities).toEqual({ tools: {}, resources: {} });
  const { resources } = (await client.request('resources/list', {})).result;
  expect(resources.length).toBeGreaterThan(0);
  for (const resource of resources) {
    expect(Object.keys(resource)).toEqual(['uri', 'name', 'description', 'mimeType']);
    expect(resource.uri).toMatch(/^custom:\/\/resource\/\w+$/);
    const { contents } = (await client.request('resources/read', { uri: resource.uri })).result;
    expect(contents).toEqual([{ uri: resource.uri, mimeType: resource.mimeType, text: expect.stringMatching(/./) }]);
  }
  const { error } = await client.request('resources/read', { uri: 'custom://resource/nothing' });
  expect(error?.code).toBe(-32002);
});

test('S3-16 S3-17: the program lists and reads them over stdio and HTTP', async () => {
  const piped = await connect([process.execPath, cli, 'serve', 'empirical']);
  afterwards(() => piped.close());
  const remote = await connect((await home.serve(['empirical'])).url);
  afterwards(() => remote.close());
  for (const client of [piped, remote]) {
    const resources = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['custom://resource/sources', 'custom://resource/guide']);
    for (const { uri, mimeType } of resources) {
      expect((await client.readResource(uri)).contents).toMatchObject([{ uri, mimeType, text: expect.any(String) }]);
    }
  }
});

test('the sources among the resources are those that the search takes', async () => {
  const { client, libraries } = await open();
  const read = async () => {
    const { result } = await client.request('resources/read', { uri: 'custom://resource/sources' });
    return JSON.parse(result.contents[0].text).sources;
  };
  const ok = ['arxiv', 'crossref', 'openalex'].map((name) => ({ name, status: 'ok' }));
  expect(await read()).toEqual(ok);
  libraries.fail('arxiv', 500);
  for (let n = 0; n < 10; n++) await client.call('search_literature', { query: `q${n}`, sources: ['arxiv'] });
  expect(await read()).toEqual([{ name: 'arxiv', status: 'failed' }, ...ok.slice(1)]);
});

test('S3-18: a server without resources does not declare them, and their methods do not exist', async () => {
  const server = createServer({ name: 'x', version: '1', rules: empiricalRules, capabilities: { tools: {} } });
  server.tool('t', { description: 't', run: () => 'x' });
  const client = await TestClient.open(server, old);
  for (const method of ['resources/list', 'resources/read', 'resources/templates/list']) {
    expect((await client.request(method, { uri: 'x://y' })).error?.code, method).toBe(-32601);
  }
});

test('S3-36: what the server does not have is not declared, and its methods do not exist', async () => {
  const { client } = await open();
  for (const method of ['resources/subscribe', 'prompts/list', 'logging/setLevel', 'completion/complete']) {
    expect((await client.request(method, { uri: 'custom://resource/guide' })).error?.code, method).toBe(-32601);
  }
});

test('S3-21: a handler for a request of any type can be registered directly', async () => {
  const { server, client } = await open();
  const { remove } = server.method('example/echo', (params) => ({ said: params['text'] }));
  expect((await client.request('example/echo', { text: 'hi' })).result).toEqual({ said: 'hi' });
  remove();
  expect((await client.request('example/echo', { text: 'hi' })).error?.code).toBe(-32601);
  // Types of the protocol itself are taken by their name, before the built-in handler or instead of it.
  const byHand = { content: [{ type: 'text', text: 'by hand' }] };
  server.around(({ method, params }, next) => (method === 'tools/call' && params['name'] === 'own' ? byHand : next()));
  expect((await client.call('own', {})).result).toEqual(byHand);
  expect((await client.call('health_check', {})).result.content[0].text).toContain('healthy');
});

test('S3-22: the server is connected to a pair of streams', async () => {
  const { server } = await open();
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const connection = await serveStdio(server, { stdin, stdout, logger: memoryLogger() });
  const lines: string[] = [];
  stdout.on('data', (chunk: Buffer) => lines.push(...chunk.toString().trim().split('\n')));
  stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}\n');
  stdin.end('{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}\n');
  await connection.closed;
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([1, 2]);
});

test('S3-23 S3-24: an unknown tool is a result whose text is JSON', async () => {
  const { client } = await open();
  const { result } = await client.call('missing', {});
  expect(result.isError).toBe(true);
  expect(JSON.parse(result.content[0].text)).toEqual({ error: 'Unknown tool: missing' });
});

test('S3-27: a call without arguments is an error that says so', async () => {
  const { client } = await open();
  const { result } = await client.call('search_literature');
  expect(result.isError).toBe(true);
  expect(JSON.parse(result.content[0].text)).toEqual({ error: 'No arguments provided' });
});

test('S3-28: a schema of Zod validates like any other', async () => {
  const { server, text } = await open();
  let ran = false;
  server.tool('greet', {
    description: 'Greet',
    input: z.object({ name: z.string().min(1), times: z.number().max(3).optional() }),
    run: ({ name }) => {
      ran = true;
      return `hello ${name}`;
    },
  });
  expect(await text('greet', { name: '' })).toMatch(/^Validation error: .*name/);
  expect(await text('greet', { name: 'Ada', times: 4 })).toMatch(/^Validation error: .*times/);
  expect(ran).toBe(false);
  expect(await text('greet', { name: 'Ada' })).toBe('hello Ada');
});

test('S3-32: a handler that throws leaves the server as it was', async () => {
  const { server, client, text } = await open();
  server.tool('fall', {
    description: 'Fall',
    run: async () => {
      throw new Error('down');
    },
  });
  for (let n = 0; n < 20; n++) expect(JSON.parse(await text('fall', {}))).toEqual({ error: 'down' });
  expect((await client.request('ping')).result).toEqual({});
});

test('S3-34: health_check says as JSON how server and sources are doing', async () => {
  const { text, libraries } = await open();
  expect(JSON.parse(await text('health_check', {}))).toMatchObject({
    status: 'healthy',
    server: { name: 'research-mcp-server', version: '1.0.0' },
    uptime: expect.any(Number),
    parts: [
      { name: 'arxiv', status: 'ok' },
      { name: 'crossref', status: 'ok' },
      { name: 'openalex', status: 'ok' },
    ],
  });
  libraries.fail('crossref', 500);
  for (const query of ['a', 'b', 'c']) await text('search_literature', { query, sources: ['crossref'] });
  const report = JSON.parse(await text('health_check', {}));
  expect(report.status).toBe('degraded');
  expect(report.parts[1]).toMatchObject({ name: 'crossref', status: 'failed', detail: expect.stringContaining('500') });
});

test('the official counterpart: the stateless revision is served beside it by the official rules', async () => {
  const { client } = await open();
  expect((await client.stateless('tools/call', { name: 'missing' })).error?.code).toBe(-32602);
  const { result } = await client.stateless('tools/call', { name: 'health_check' });
  expect(result.structuredContent.status).toBe('healthy');
});
