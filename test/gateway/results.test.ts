// Results of upstreams that are not what the protocol says, and results that a revision of the client has no place for.

import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/index.ts';
import { useClosers } from '../support/closers.ts';
import { type Fields, scripted, tool } from './answers.ts';
import { clientOf, gatewayConfig, upstream } from './fixture.ts';

const closers = useClosers(afterEach);

const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

/** A gateway with an upstream that returns what it is told to: `result` for tools, a prompt, a resource and completions. */
function returning(result: () => Fields): Gateway {
  const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} };
  const answers = {
    'tools/list': () => ({ tools: [tool('work')] }),
    'prompts/list': () => ({ prompts: [{ name: 'ask', arguments: [{ name: 'topic' }] }] }),
    'resources/list': () => ({ resources: [{ uri: 'x://1', name: 'one' }] }),
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    'tools/call': result,
    'prompts/get': result,
    'resources/read': result,
    'completion/complete': result,
  };
  const gateway = createGateway(gatewayConfig([upstream('one', { revision: '2025-06-18' })]), {
    logger: false,
    target: () => scripted(answers, [], { capabilities }),
  });
  closers.push(() => gateway.close());
  return gateway;
}

const invalid = {
  code: 'server-error',
  message: expect.stringContaining('Invalid response from one'),
  serverError: { code: -32603 },
};

const notToolResults: readonly Fields[] = [
  { content: [{ type: 'text' }] },
  { content: [{ type: 'text', text: null }] },
  { content: [{ type: 'text', text: 5 }] },
  { content: [{ type: 'image', mimeType: 'image/png' }] },
  { content: [{ type: 'audio', data: 'AAAA' }] },
  { content: [{ type: 'resource' }] },
  { content: [{ type: 'resource', resource: { text: 'x' } }] },
  { content: [{ type: 'resource', resource: { uri: 'x://1' } }] },
  { content: [{ type: 'resource_link' }] },
  { content: [{ type: 'resource_link', uri: 'x://1' }] },
  { content: [{ text: 'x' }] },
  { content: [{ type: 'text', text: 'x' }], _meta: 'x' },
];

describe('a result without the members that its blocks require is an error that names the server', () => {
  for (const revision of revisions) {
    test(`a tool, for a client of ${revision}`, async () => {
      let result: Fields = {};
      const gateway = returning(() => result);
      const client = await clientOf(closers, gateway.server, { revision });
      await client.listTools();
      for (result of notToolResults) await expect(client.callTool('one__work')).rejects.toMatchObject(invalid);
      expect(gateway.status()[0]).toMatchObject({ invalidMessages: notToolResults.length });
    });

    test(`prompts, resources and completions, for a client of ${revision}`, async () => {
      let result: Fields = {};
      const gateway = returning(() => result);
      const client = await clientOf(closers, gateway.server, { revision });
      await client.listPrompts();
      await client.listResources();
      const notPrompts: readonly Fields[] = [
        { messages: [{ role: 'user', content: { type: 'text' } }] },
        { messages: [{ role: 'user' }] },
        { messages: [{ content: { type: 'text', text: 'x' } }] },
        { messages: [], description: 5 },
        { messages: [], _meta: 'x' },
      ];
      for (result of notPrompts) await expect(client.getPrompt('one__ask')).rejects.toMatchObject(invalid);
      const notContents: readonly Fields[] = [
        { contents: [{ text: 'x' }] },
        { contents: [{ uri: 'x://1' }] },
        { contents: [{ uri: 'x://1', text: 5 }] },
        { contents: [{ uri: 'x://1', blob: [] }] },
        { contents: [{ uri: 'x://1', text: 'x', mimeType: 5 }] },
        { contents: [{ uri: 'x://1', text: 'x', _meta: 'x' }] },
        { contents: [], _meta: 'x' },
      ];
      for (result of notContents) await expect(client.readResource('x://1')).rejects.toMatchObject(invalid);
      if (!client.offers('completion/complete')) return;
      const notCompletions: readonly Fields[] = [
        { completion: { values: ['a', 5] } },
        { completion: { values: ['a'], total: '1' } },
        { completion: { values: ['a'], total: 1.5 } },
        { completion: { values: ['a'], hasMore: 'no' } },
      ];
      const ref = { type: 'ref/prompt', name: 'one__ask' } as const;
      const complete = () => client.complete({ ref, argument: { name: 'topic', value: '' } });
      for (result of notCompletions) await expect(complete()).rejects.toMatchObject(invalid);
      result = { completion: { values: ['a'], total: null, hasMore: null } };
      expect(await complete()).toMatchObject({ values: ['a'] });
    });
  }
});

test('null instead of optional members is as if they were absent', async () => {
  const text = { type: 'text', text: 'fine', annotations: null };
  const gateway = returning(() => ({ content: [text], _meta: null }));
  const contents = [{ uri: 'x://1', text: 'fine', blob: null, mimeType: null, _meta: null }];
  const resources = returning(() => ({ contents }));
  for (const revision of revisions) {
    const client = await clientOf(closers, gateway.server, { revision });
    expect((await client.callTool('one__work')).content).toMatchObject([{ type: 'text', text: 'fine' }]);
    const reader = await clientOf(closers, resources.server, { revision });
    expect((await reader.readResource('x://1')).contents).toMatchObject([{ uri: 'x://1', text: 'fine' }]);
  }
});

test('a result with structured content only is JSON text for clients of revisions that have none', async () => {
  let result: Fields = {};
  const gateway = returning(() => result);
  for (const revision of ['2024-11-05', '2025-03-26']) {
    const client = await clientOf(closers, gateway.server, { revision });
    for (result of [{ content: [], structuredContent: { a: 1 } }, { structuredContent: { a: 1 } }]) {
      expect((await client.callTool('one__work')).content).toEqual([{ type: 'text', text: '{"a":1}' }]);
    }
    // The server's own text is all that it wants to be shown.
    result = { content: [{ type: 'text', text: 'one' }], structuredContent: { a: 1 } };
    expect((await client.callTool('one__work')).content).toEqual([{ type: 'text', text: 'one' }]);
  }
  const client = await clientOf(closers, gateway.server, { revision: '2025-11-25' });
  result = { content: [], structuredContent: { a: 1 } };
  expect(await client.callTool('one__work')).toEqual(result);
});
