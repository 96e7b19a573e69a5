// Handlers that return their input requests: tools, prompts and resources, also mixed with input requests they wait for.

import { describe, expect, test } from 'vitest';
import { createServer, elicit, inputRequired, type Server, sample } from '../../src/index.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const form = { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] } as const;
const one = { one: elicit('One?', form) };
const capabilities = { elicitation: {} };

/** Sends a request and accepts the forms of its input requests, in order, until there is a result; counts the forms. */
type Dialogue = (
  server: Server,
  method: string,
  params: object,
  responses: readonly string[],
) => Promise<{ response: Message; messages: string[] }>;

const pushed: Dialogue = async (server, method, params, responses) => {
  const client = await TestClient.open(server, '2025-11-25', capabilities);
  const pending = client.request(method, params, 'call');
  const messages: string[] = [];
  for (const x of responses) {
    const known = messages.length;
    const forms = () => client.received.filter((each) => each.method === 'elicitation/create');
    await client.next(() => forms().length > known || client.received.some(({ id }) => id === 'call'));
    const next = forms()[known];
    if (next === undefined) break;
    messages.push(next.params.message);
    client.send({ jsonrpc: '2.0', id: next.id, result: { action: 'accept', content: { x } } });
  }
  return { response: await pending, messages };
};

const retried: Dialogue = async (server, method, params, responses) => {
  const client = new TestClient(server);
  const messages: string[] = [];
  let response = await client.stateless(method, params, capabilities);
  for (const x of responses) {
    if (response.result?.resultType !== 'input_required') break;
    const { inputRequests, requestState } = response.result;
    const inputResponses: Record<string, unknown> = {};
    for (const [key, request] of Object.entries<Message>(inputRequests)) {
      messages.push(request.params.message);
      inputResponses[key] = { action: 'accept', content: { x } };
    }
    response = await client.stateless(method, { ...params, requestState, inputResponses }, capabilities);
  }
  return { response, messages };
};

describe.each<[string, Dialogue]>([
  ['on a handshake revision', pushed],
  ['on the stateless revision', retried],
])('%s', (_name, dialogue) => {
  test('a prompt and a resource may return their input requests', async () => {
    const server = createServer({ name: 'input', version: '1' });
    server.prompt('p', {
      get: async (_args, ctx) => {
        const responses = await ctx.inputResponses(one);
        return responses === undefined ? inputRequired(one) : `hello ${responses.one.content?.x}`;
      },
    });
    server.resource('a://b', {
      name: 'b',
      read: async (ctx) => {
        const responses = await ctx.inputResponses(one);
        return responses === undefined ? inputRequired(one) : `read ${responses.one.content?.x}`;
      },
    });
    server.resourceTemplate('c://{d}', {
      name: 'c',
      read: async ({ d }, ctx) => {
        const responses = await ctx.inputResponses(one);
        return responses === undefined ? inputRequired(one) : `${d} ${responses.one.content?.x}`;
      },
    });
    const prompt = await dialogue(server, 'prompts/get', { name: 'p' }, ['Ada']);
    expect(prompt.response.result.messages[0].content.text).toBe('hello Ada');
    const resource = await dialogue(server, 'resources/read', { uri: 'a://b' }, ['Ada']);
    expect(resource.response.result.contents[0].text).toBe('read Ada');
    const member = await dialogue(server, 'resources/read', { uri: 'c://e' }, ['Ada']);
    expect(member.response.result.contents[0].text).toBe('e Ada');
  });

  test('earlier responses and steps are reused, whether input requests were returned or awaited', async () => {
    const server = createServer({ name: 'input', version: '1' });
    const done: string[] = [];
    const two = { two: elicit('Two?', form) };
    server.tool('mixed', {
      run: async (_args, ctx) => {
        const zero = await ctx.elicit('Zero?', form);
        await ctx.step('charge', () => done.push('charged'));
        const responses = await ctx.inputResponses(one);
        if (responses === undefined) return inputRequired(one);
        const last = await ctx.requestInputs(two);
        return [zero, responses.one, last.two].map(({ content }) => content?.x).join(' ');
      },
    });
    const { response, messages } = await dialogue(server, 'tools/call', { name: 'mixed' }, ['a', 'b', 'c', 'd']);
    expect([response.result.content[0].text, messages]).toEqual(['a b c', ['Zero?', 'One?', 'Two?']]);
    expect(done).toEqual(['charged']);
  });

  test('each run of a handler ends normally, also with an output schema', async () => {
    const server = createServer({ name: 'input', version: '1' });
    let open = 0;
    let runs = 0;
    server.tool('tidy', {
      output: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      run: async (_args, ctx) => {
        open++;
        runs++;
        try {
          const responses = await ctx.inputResponses(one);
          return responses === undefined ? inputRequired(one) : { name: String(responses.one.content?.x) };
        } finally {
          open--;
        }
      },
    });
    const { response } = await dialogue(server, 'tools/call', { name: 'tidy' }, ['Ada']);
    expect([response.result.structuredContent, runs, open]).toEqual([{ name: 'Ada' }, 2, 0]);
  });

  test('a handler that never reads its responses is stopped', async () => {
    const server = createServer({ name: 'input', version: '1' });
    server.tool('careless', { run: () => inputRequired(one) });
    const { response } = await dialogue(server, 'tools/call', { name: 'careless' }, [
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
      'g',
      'h',
    ]);
    expect(response.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('inputResponses') }],
    });
  });
});

test('inputRequired without an input request throws', () => {
  expect(() => inputRequired({})).toThrow(/at least one input request/);
});

test('sampling whose tool results are missing, or mixed with something else, throws', () => {
  const said = { type: 'text', text: 'x' } as const;
  const use = { role: 'assistant', content: { type: 'tool_use', id: '1', name: 't', input: {} } } as const;
  const result = { type: 'tool_result', toolUseId: '1', content: [said] } as const;
  const request = (content: typeof result | readonly (typeof result | typeof said)[] | typeof said) =>
    sample({ messages: [use, { role: 'user', content }], maxTokens: 1 });
  expect(request(result).params.messages).toHaveLength(2);
  expect(() => request(said)).toThrow('sample: message 1 lacks the tool result for "1", which message 0 uses');
  expect(() => request([result, said])).toThrow('sample: message 1 mixes tool results with something else');
});
