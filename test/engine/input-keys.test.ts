// A key names one input request: on the stateless revision its response is recorded under it.

import { afterEach, expect, test } from 'vitest';
import { connect, inMemory } from '../../src/client/index.ts';
import { type Context, createServer } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';

const closers = useClosers(afterEach);
const form = { type: 'object', properties: { text: { type: 'string' } } } as const;

async function run(revision: string, handler: (ctx: Context) => Promise<unknown>, task = false): Promise<string> {
  const server = createServer({ name: 'keys', version: '1.0.0', logger: false });
  server.tool('ask', {
    ...(task ? { task: { support: 'required', start: 'immediately' } as const } : {}),
    run: async (_args, ctx) => JSON.stringify(await handler(ctx)),
  });
  const client = await connect(inMemory(server), {
    revision,
    handlers: {
      elicit: async ({ message }) => ({ action: 'accept', content: { text: message } }),
      roots: [{ uri: 'file:///home/ada' }],
    },
  });
  closers.push(() => client.close());
  const { content } = await client.callTool('ask');
  return content[0]?.type === 'text' ? content[0].text : '';
}

const revisions = ['2025-06-18', '2025-11-25', '2026-07-28'];
const cases = [
  ...revisions.map((revision) => [revision, false] as const),
  ...revisions.slice(1).map((revision) => [revision, true] as const),
];

test.each(cases)('a second input request with the same key is an error (%s, task: %s)', async (revision, task) => {
  const twice = async (ctx: Context) => {
    await ctx.elicit('first', form, { key: 'name' });
    return ctx.elicit('second', form, { key: 'name' });
  };
  const text = 'Two input requests have the key "name": give each a key of its own';
  expect(await run(revision, twice, task)).toBe(text);
  const together = (ctx: Context) =>
    Promise.all(['first', 'second'].map((message) => ctx.elicit(message, form, { key: 'name' })));
  expect(await run(revision, together, task)).toBe(text);
});

test.each(cases)('roots can be requested again, and other keys are others (%s, task: %s)', async (revision, task) => {
  const handler = async (ctx: Context) => [
    (await ctx.roots({ key: 'roots' })).length,
    (await ctx.roots({ key: 'roots' })).length,
    (await ctx.elicit('first', form, { key: 'one' })).content?.['text'],
    (await ctx.elicit('second', form, { key: 'two' })).content?.['text'],
    (await ctx.elicit('third', form)).content?.['text'],
    (await ctx.elicit('fourth', form)).content?.['text'],
  ];
  expect(JSON.parse(await run(revision, handler, task))).toEqual([1, 1, 'first', 'second', 'third', 'fourth']);
});
