// The text beside structured content: as it is sent on every revision, through tasks, mounted servers and gateways.

import { afterEach, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/index.ts';
import { clientOf, gatewayOf } from '../gateway/fixture.ts';
import { useClosers } from '../support/closers.ts';
import { TestClient } from '../support/test-client.ts';
import { validateMessage } from '../support/validate-message.ts';

const closers = useClosers(afterEach);

const before = ['2024-11-05', '2025-03-26'];
const since = ['2025-06-18', '2025-11-25', '2026-07-28'];
const copies = ['always', 'short', 'never'] as const;

const value = { city: 'Oslo', hours: Array.from({ length: 200 }, (_, hour) => hour) };
const json = JSON.stringify(value);
const summary = 'The result is in structuredContent: city: "Oslo", hours: list of 200';
const picture = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
const text = (words: string) => ({ type: 'text', text: words }) as const;
const short = { ...text(summary), _meta: { 'mooring/summary': true } };

function make(): Server {
  const server = createServer({ name: 'weather', version: '1.0.0', logger: false });
  const output = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
  server.tool('default', { output, run: () => value });
  for (const textCopy of copies) {
    server.tool(textCopy, { textCopy, output, run: () => value });
    server.tool(`${textCopy}_small`, { textCopy, run: async () => ({ n: 1 }) });
    server.tool(`${textCopy}_picture`, { textCopy, run: () => ({ content: [picture], structuredContent: value }) });
    server.tool(`${textCopy}_own`, { textCopy, run: () => ({ content: [text('own')], structuredContent: value }) });
    server.tool(`${textCopy}_failed`, {
      textCopy,
      run: () => ({ content: [], structuredContent: value, isError: true }),
    });
    server.tool(`${textCopy}_text`, { textCopy, run: () => 'only text' });
    server.tool(`${textCopy}_list`, { textCopy, run: () => [1, 2] });
  }
  return server;
}

interface Sent {
  readonly content: readonly object[];
  readonly structuredContent?: unknown;
}

/** Calls a tool; the message is checked against the official schema. */
async function call(server: Server, revision: string, name: string): Promise<Sent> {
  const isStateless = revision === '2026-07-28';
  const client = isStateless ? new TestClient(server) : await TestClient.open(server, revision);
  const message = isStateless ? await client.stateless('tools/call', { name }) : await client.call(name);
  expect(validateMessage(revision, message as never, 'tools/call')).toEqual([]);
  return message.result as Sent;
}

describe.each(since)('%s', (revision) => {
  test.each<[string, object[], unknown]>([
    ['default', [text(json)], value],
    ['always', [text(json)], value],
    ['short', [short], value],
    ['never', [], value],
    ['always_small', [text('{"n":1}')], { n: 1 }],
    ['short_small', [text('{"n":1}')], { n: 1 }],
    ['never_small', [], { n: 1 }],
    ['always_picture', [text(json), picture], value],
    ['short_picture', [short, picture], value],
    ['never_picture', [picture], value],
    ['short_own', [text('own')], value],
    ['never_own', [text('own')], value],
    ['short_failed', [text(json)], value],
    ['never_failed', [text(json)], value],
    ['short_text', [text('only text')], undefined],
    ['never_text', [text('only text')], undefined],
  ])('the content of %s', async (name, content, structuredContent) => {
    const result = await call(make(), revision, name);
    expect(result.content).toEqual(content);
    expect(result.structuredContent).toEqual(structuredContent);
  });

  test('a value that is no object', async () => {
    const wrapped = revision === '2026-07-28' ? [1, 2] : { result: [1, 2] };
    expect(await call(make(), revision, 'never_list')).toMatchObject({ content: [], structuredContent: wrapped });
  });
});

describe.each(before)('%s has no structured content, so the text is whole', (revision) => {
  test.each<[string, object[]]>([
    ...copies.flatMap((copy): [string, object[]][] => [
      [copy, [text(json)]],
      [`${copy}_small`, [text('{"n":1}')]],
      [`${copy}_picture`, [text(json), picture]],
      [`${copy}_own`, [text('own')]],
      [`${copy}_failed`, [text(json)]],
      [`${copy}_text`, [text('only text')]],
      [`${copy}_list`, [text('[1,2]')]],
    ]),
  ])('the content of %s', async (name, content) => {
    const result = await call(make(), revision, name);
    expect(result.content).toEqual(content);
    expect(result).not.toHaveProperty('structuredContent');
  });
});

test('it is indented as the rules say, where it is the only result', async () => {
  const server = createServer({ name: 'x', version: '1.0.0', rules: { tools: { jsonIndent: 2 } } });
  server.tool('never', { textCopy: 'never', run: () => ({ n: 1 }) });
  expect((await call(server, '2024-11-05', 'never')).content).toEqual([text('{\n  "n": 1\n}')]);
});

test('a tool of a mounted server keeps its option', async () => {
  const outer = createServer({ name: 'outer', version: '1.0.0' });
  outer.mount('in', make());
  expect((await call(outer, '2025-11-25', 'in_never')).content).toEqual([]);
  expect((await call(outer, '2025-11-25', 'in_short')).content).toEqual([short]);
  expect((await call(outer, '2024-11-05', 'in_short')).content).toEqual([text(json)]);
});

test.each([...before, ...since])('a gateway passes results on; a client of %s gets the whole', async (revision) => {
  const gateway = gatewayOf(closers, { one: make() });
  const client = await clientOf(closers, gateway.server, { revision });
  const isOld = before.includes(revision);
  expect((await client.callTool('one__short')).content).toEqual([isOld ? text(json) : short]);
  expect((await client.callTool('one__never')).content).toEqual(isOld ? [text(json)] : []);
  expect((await client.callTool('one__never_picture')).content).toEqual(isOld ? [text(json), picture] : [picture]);
});

test('JSON for a client without structured content does not repeat the bytes of a block', async () => {
  const bytes = 'QUJD'.repeat(100);
  const image = { type: 'image', data: bytes, mimeType: 'image/png' } as const;
  const resource = { type: 'resource', resource: { uri: 'a:b', blob: `${bytes}QQ==` } } as const;
  const content = [image, resource];
  const structuredContent = { content, note: 'two blocks', short: 'QUJD' };
  const server = createServer({ name: 'files', version: '1.0.0', logger: false });
  server.tool('read', { textCopy: 'never', run: () => ({ content, structuredContent }) });
  const replaced = (type: string) => `[the content block of type ${type} contains this]`;
  const shown = {
    content: [
      { ...image, data: replaced('image') },
      { ...resource, resource: { ...resource.resource, blob: replaced('resource') } },
    ],
    note: 'two blocks',
    short: 'QUJD',
  };
  for (const revision of before) {
    expect((await call(server, revision, 'read')).content).toEqual([text(JSON.stringify(shown)), ...content]);
  }
  for (const revision of since) {
    expect(await call(server, revision, 'read')).toMatchObject({ content, structuredContent });
  }
});

test('the result of a task has the same content as that of a call', async () => {
  const server = make();
  server.tool('later', { textCopy: 'never', task: 'required', run: async () => value });
  const client = await clientOf(closers, server, { revision: '2025-11-25' });
  const task = await client.tasks.start('later');
  expect(await task.wait()).toMatchObject({ content: [], structuredContent: value });
});

test.each([() => 1, { n: 1n }])('a value that JSON cannot represent fails with every option', async (returned) => {
  const server = createServer({ name: 'x', version: '1.0.0', logger: false });
  for (const textCopy of copies) server.tool(textCopy, { textCopy, run: () => returned });
  const client = await TestClient.open(server, '2025-11-25');
  const answers = await Promise.all(copies.map(async (name) => (await client.call(name)).result));
  for (const answer of answers) {
    expect(answer).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/BigInt|function/) }],
    });
  }
});

test.each(['Short', true, null])('textCopy: %j is an error', (textCopy) => {
  expect(() => make().tool('t', { textCopy: textCopy as never, run: () => 1 })).toThrow(
    `tool "t", textCopy: must be "always", "short" or "never", not ${JSON.stringify(textCopy)}`,
  );
});
