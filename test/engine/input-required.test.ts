// Handlers that return their questions: in tools, prompts and resources, alone and mixed with questions they wait for.

import { describe, expect, test } from 'vitest';
import { createServer, elicit, inputRequired, type Server } from '../../src/index.ts';
import { Conversation, type Message } from '../support/conversation.ts';

const form = { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] } as const;
const one = { one: elicit('One?', form) };
const capabilities = { elicitation: {} };

/** Asks a server something and answers its forms, in order, until it has answered; says how often it was asked. */
type Dialogue = (
  server: Server,
  method: string,
  params: object,
  answers: readonly string[],
) => Promise<{ answer: Message; asked: string[] }>;

const pushed: Dialogue = async (server, method, params, answers) => {
  const conversation = await Conversation.open(server, '2025-11-25', capabilities);
  const answered = conversation.request(method, params, 'call');
  const asked: string[] = [];
  for (const x of answers) {
    const known = asked.length;
    const forms = () => conversation.received.filter((each) => each.method === 'elicitation/create');
    await conversation.next(() => forms().length > known || conversation.received.some(({ id }) => id === 'call'));
    const next = forms()[known];
    if (next === undefined) break;
    asked.push(next.params.message);
    conversation.send({ jsonrpc: '2.0', id: next.id, result: { action: 'accept', content: { x } } });
  }
  return { answer: await answered, asked };
};

const retried: Dialogue = async (server, method, params, answers) => {
  const conversation = new Conversation(server);
  const asked: string[] = [];
  let answer = await conversation.alone(method, params, capabilities);
  for (const x of answers) {
    if (answer.result?.resultType !== 'input_required') break;
    const { inputRequests, requestState } = answer.result;
    const inputResponses: Record<string, unknown> = {};
    for (const [key, question] of Object.entries<Message>(inputRequests)) {
      asked.push(question.params.message);
      inputResponses[key] = { action: 'accept', content: { x } };
    }
    answer = await conversation.alone(method, { ...params, requestState, inputResponses }, capabilities);
  }
  return { answer, asked };
};

describe.each<[string, Dialogue]>([
  ['where questions are requests', pushed],
  ['where they are answered by a retry', retried],
])('%s', (_name, dialogue) => {
  test('a prompt and a resource may return their questions', async () => {
    const server = createServer({ name: 'rounds', version: '1' });
    server.prompt('p', {
      get: async (_args, ctx) => {
        const answers = await ctx.inputResponses(one);
        return answers === undefined ? inputRequired(one) : `hello ${answers.one.content?.x}`;
      },
    });
    server.resource('a://b', {
      name: 'b',
      read: async (ctx) => {
        const answers = await ctx.inputResponses(one);
        return answers === undefined ? inputRequired(one) : `read ${answers.one.content?.x}`;
      },
    });
    server.resourceTemplate('c://{d}', {
      name: 'c',
      read: async ({ d }, ctx) => {
        const answers = await ctx.inputResponses(one);
        return answers === undefined ? inputRequired(one) : `${d} ${answers.one.content?.x}`;
      },
    });
    const prompt = await dialogue(server, 'prompts/get', { name: 'p' }, ['Ada']);
    expect(prompt.answer.result.messages[0].content.text).toBe('hello Ada');
    const resource = await dialogue(server, 'resources/read', { uri: 'a://b' }, ['Ada']);
    expect(resource.answer.result.contents[0].text).toBe('read Ada');
    const member = await dialogue(server, 'resources/read', { uri: 'c://e' }, ['Ada']);
    expect(member.answer.result.contents[0].text).toBe('e Ada');
  });

  test('what was answered or done before is neither asked nor done again, whichever way it was asked', async () => {
    const server = createServer({ name: 'rounds', version: '1' });
    const done: string[] = [];
    const two = { two: elicit('Two?', form) };
    server.tool('mixed', {
      run: async (_args, ctx) => {
        const zero = await ctx.elicit('Zero?', form);
        await ctx.step('charge', () => done.push('charged'));
        const answers = await ctx.inputResponses(one);
        if (answers === undefined) return inputRequired(one);
        const last = await ctx.requestInputs(two);
        return [zero, answers.one, last.two].map(({ content }) => content?.x).join(' ');
      },
    });
    const { answer, asked } = await dialogue(server, 'tools/call', { name: 'mixed' }, ['a', 'b', 'c', 'd']);
    expect([answer.result.content[0].text, asked]).toEqual(['a b c', ['Zero?', 'One?', 'Two?']]);
    expect(done).toEqual(['charged']);
  });

  test('a handler ends properly each time, and with an output schema too', async () => {
    const server = createServer({ name: 'rounds', version: '1' });
    let open = 0;
    let runs = 0;
    server.tool('tidy', {
      output: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      run: async (_args, ctx) => {
        open++;
        runs++;
        try {
          const answers = await ctx.inputResponses(one);
          return answers === undefined ? inputRequired(one) : { name: String(answers.one.content?.x) };
        } finally {
          open--;
        }
      },
    });
    const { answer } = await dialogue(server, 'tools/call', { name: 'tidy' }, ['Ada']);
    expect([answer.result.structuredContent, runs, open]).toEqual([{ name: 'Ada' }, 2, 0]);
  });

  test('a handler that never looks at its answers is stopped', async () => {
    const server = createServer({ name: 'rounds', version: '1' });
    server.tool('deaf', { run: () => inputRequired(one) });
    const { answer } = await dialogue(server, 'tools/call', { name: 'deaf' }, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    expect(answer.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('inputResponses') }],
    });
  });
});

test('a round without a question is refused where it is made', () => {
  expect(() => inputRequired({})).toThrow(/at least one input request/);
});
