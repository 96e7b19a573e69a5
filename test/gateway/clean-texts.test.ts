// Texts of servers that users read: input requests and the data of errors arrive without hidden characters, and honest ones
// as they are.

import { afterEach, expect, test } from 'vitest';
import { createGateway } from '../../src/gateway/index.ts';
import { createServer } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { gatewayConfig, gatewayOf, upstream } from './fixture.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
const can = { elicitation: { form: {}, url: {} } };
const hidden = '\u202e\u200b\u001b]0;title\u0007';

const hostileForm = {
  type: 'object',
  properties: { name: { type: 'string', title: `Na${hidden}me`, description: `Your${hidden} name` } },
} as const;
const cleanForm = {
  type: 'object',
  properties: { name: { type: 'string', title: 'Name', description: 'Your name' } },
};
const honestForm = {
  type: 'object',
  properties: {
    größe: { type: 'string', title: 'Größe 👩‍👩‍👧', description: 'line 1\n\tline 2 — «да»', enum: ['klein', 'groß'] },
  },
  required: ['größe'],
} as const;

/** An upstream of each era with a tool that asks. */
function asking(revision: string, message: string, form: typeof hostileForm | typeof honestForm) {
  const server = createServer({ name: 'asking', version: '1.0.0', logger: false });
  const answers: unknown[] = [];
  server.tool('ask', {
    run: async (_args, ctx) => {
      answers.push(await ctx.elicit(message, form as typeof honestForm));
      return 'asked';
    },
  });
  return { gateway: gatewayOf(closers, { one: server }, { revision }), answers };
}

const eras = ['2025-11-25', '2026-07-28'];

test.each(eras.flatMap((up) => eras.map((down) => [up, down] as const)))(
  'an input request of a server of %s reaches a client of %s clean',
  async (up, down) => {
    const { gateway } = asking(up, `Your${hidden} name?`, hostileForm);
    const asked = await firstRequest(gateway.server, down);
    expect(asked).toMatchObject({ message: '[one] Your name?', requestedSchema: cleanForm });
  },
);

test.each(eras)('what an honest server of %s asks arrives as it is, and so does the answer', async (up) => {
  const message = 'Wirklich löschen?\n\n1. „ja“\t2. nein 👍🏽';
  const { gateway, answers } = asking(up, message, honestForm);
  const client = await TestClient.open(gateway.server, '2025-11-25', can);
  const call = client.call('one__ask');
  const { id, params } = await client.next(({ method }) => method === 'elicitation/create');
  expect(params).toMatchObject({ message: `[one] ${message}` });
  expect(params.requestedSchema).toEqual(honestForm);
  const answer = { action: 'accept', content: { größe: 'groß' } };
  client.send({ jsonrpc: '2.0', id, result: answer });
  await call;
  expect(answers).toEqual([answer]);
});

/** The params of the first input request that a call gets. */
async function firstRequest(server: Parameters<typeof TestClient.open>[0], down: string): Promise<unknown> {
  if (down === '2026-07-28') {
    const { result } = await new TestClient(server).stateless('tools/call', { name: 'one__ask' }, can);
    return (Object.values(result.inputRequests)[0] as Message).params;
  }
  const client = await TestClient.open(server, down, can);
  void client.call('one__ask');
  return (await client.next(({ method }) => method === 'elicitation/create')).params;
}

/** A gateway in front of a server whose calls fail with this error. */
async function failing(error: object): Promise<Message['error']> {
  const { target } = scriptedUpstream(({ id }, side) => side.send({ id, error }));
  const config = upstream('one', { revision: '2025-11-25' });
  const gateway = createGateway(gatewayConfig([config]), { logger: false, target: () => target });
  closers.push(() => gateway.close());
  const client = await TestClient.open(gateway.server, '2025-11-25', can);
  return (await client.call('one__work')).error;
}

test('the data of an error has no hidden characters, at any depth', async () => {
  const data = { reason: `no${hidden}`, at: [{ [`key${hidden}`]: `deep${hidden}` }], count: 3, none: null };
  const error = await failing({ code: -32000, message: 'failed', data });
  expect(error?.data).toEqual({ reason: 'no', at: [{ key: 'deep' }], count: 3, none: null, server: 'one' });
  expect((await failing({ code: -32000, message: 'failed', data: `text${hidden}` }))?.data).toBe('text');
});

test('the data of an honest error arrives as it is', async () => {
  const data = { details: 'строка 1\n\tline 2 👩‍👩‍👧', list: [1.5, true, null, { a: { b: ['«c»'] } }] };
  expect((await failing({ code: -32000, message: 'failed', data }))?.data).toEqual({ ...data, server: 'one' });
});

test('the pages of an error that wants them to be visited are clean', async () => {
  const elicitations = [{ mode: 'url', elicitationId: 'e', message: `Sign${hidden} in`, url: 'https://example.com/a' }];
  const error = await failing({ code: -32042, message: 'first', data: { elicitations } });
  expect(error).toMatchObject({ code: -32042, data: { elicitations: [{ ...elicitations[0], message: 'Sign in' }] } });
});
