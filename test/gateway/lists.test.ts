// Lists of upstreams that are incomplete or not valid: what can be used of them is shown, and other servers are not affected.

import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { useClosers } from '../support/closers.ts';
import { type Answer, scripted, tool } from './answers.ts';
import { clientOf, gatewayConfig, upstream } from './fixture.ts';

const closers = useClosers(afterEach);

const lists: Readonly<Record<string, Answer>> = {
  'tools/list': () => ({ tools: [tool('work')] }),
  'prompts/list': () => ({ prompts: [{ name: 'ask' }] }),
  'resources/list': () => ({ resources: [{ uri: 'x:a', name: 'a' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
};
const opening = { capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} } };

/** A gateway in front of a server with these answers, and of one with a tool `work`. */
function gatewayWith(answers: Readonly<Record<string, Answer>>, given: Partial<UpstreamConfig> = {}): Gateway {
  const servers = ['bad', 'good'].map((slug) => upstream(slug, { revision: '2025-06-18', ...given }));
  const gateway = createGateway(gatewayConfig(servers), {
    logger: false,
    target: ({ slug }) => (slug === 'bad' ? scripted(answers, [], opening) : scripted(lists)),
  });
  closers.push(() => gateway.close());
  return gateway;
}

const namesOf = (items: readonly { readonly name: string }[]): string[] => items.map(({ name }) => name);

test('a server that does not know the method of a list has an empty one', async () => {
  const { 'resources/templates/list': _templates, ...others } = lists;
  const gateway = gatewayWith(others);
  const client = await clientOf(closers, gateway.server);
  expect(namesOf(await client.listTools())).toEqual(['bad__work', 'good__work']);
  expect(namesOf(await client.listResources())).toEqual(['a']);
  expect(await client.listResourceTemplates()).toEqual([]);
  expect(gateway.status()[0]).toMatchObject({ state: 'ready' });
});

test('a list that fails stays as it was, and the others are read', async () => {
  let tools = [tool('work')];
  let announce = (): void => {};
  let isBroken = false;
  const gateway = gatewayWith({
    ...lists,
    'tools/list': () => ({ tools }),
    'prompts/list': (_params, send, id) => {
      announce = () => send({ method: 'notifications/tools/list_changed' });
      if (!isBroken) return { prompts: [{ name: 'ask' }] };
      send({ id, error: { code: -32603, message: 'out of order' } });
      return undefined;
    },
  });
  const client = await clientOf(closers, gateway.server, { cache: false });
  expect(namesOf(await client.listPrompts())).toEqual(['bad__ask']);
  isBroken = true;
  tools = [tool('work'), tool('more')];
  announce();
  await expect.poll(async () => namesOf(await client.listTools())).toContain('bad__more');
  expect(namesOf(await client.listPrompts())).toEqual(['bad__ask']);
  expect(gateway.status()[0]).toMatchObject({ state: 'degraded', reason: expect.stringContaining('out of order') });
});

test('an item with members that are not valid is shown without them, and takes no others away', async () => {
  const broken = {
    name: 'broken',
    description: null,
    title: 1,
    icons: null,
    annotations: { title: 1 },
    inputSchema: {},
  };
  const gateway = gatewayWith({
    ...lists,
    'tools/list': () => ({ tools: [broken, { ...tool('none'), inputSchema: [] }, tool('work')] }),
    'prompts/list': () => ({ prompts: [{ name: 'ask', arguments: null }] }),
  });
  const client = await clientOf(closers, gateway.server);
  expect(await client.listTools()).toEqual([
    { name: 'bad__broken', inputSchema: { type: 'object' } },
    { name: 'bad__work', inputSchema: { type: 'object' } },
    { name: 'good__work', inputSchema: { type: 'object' } },
  ]);
  expect(await client.listPrompts()).toEqual([{ name: 'bad__ask' }]);
});

test('with validate, a tool whose schema is not valid cannot be called, and the others can', async () => {
  const inputSchema = { type: 'object', properties: { a: { type: 'nonsense' } } };
  const answers = { ...lists, 'tools/list': () => ({ tools: [{ name: 'broken', inputSchema }, tool('work')] }) };
  const done = () => ({ content: [{ type: 'text', text: 'done' }] });
  const gateway = gatewayWith({ ...answers, 'tools/call': done }, { validate: true });
  const client = await clientOf(closers, gateway.server);
  expect(namesOf(await client.listTools())).toEqual(['bad__broken', 'bad__work', 'good__work']);
  expect(await client.callTool('bad__work')).toMatchObject({ content: [{ text: 'done' }] });
  const failed = await client.callTool('bad__broken').catch((error: Error) => error.message);
  expect(JSON.stringify(failed)).toContain('The schema is not valid');
});

test('names in conflict are logged once each, and not without end', async () => {
  const messages: string[] = [];
  const logger = { ...silentLogger, warn: (text: string) => void messages.push(text) };
  let names = Array.from({ length: 600 }, (_, n) => `tool${n}`);
  let announce = (): void => {};
  const bad = scripted({
    'tools/list': (_params, send) => {
      announce = () => send({ method: 'notifications/tools/list_changed' });
      return { tools: [...names, ...names].map(tool) };
    },
  });
  const config = gatewayConfig([upstream('bad', { revision: '2025-06-18' })]);
  const gateway = createGateway(config, { logger, target: () => bad });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server, { cache: false });
  await client.listTools();
  expect(messages.filter((text) => text.includes('is hidden'))).toHaveLength(600);
  names = names.map((name) => `${name}-again`);
  announce();
  await expect.poll(async () => (await client.listTools())[0]?.name).toBe('bad__tool0-again');
  expect(messages.filter((text) => text.includes('is hidden'))).toHaveLength(1_000);
});
