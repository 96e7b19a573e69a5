// Tools and a prompt that need several input requests. They are written once: handshake revisions push the requests,
// stateless revisions ask the client to retry.

import { elicit, roots, sample } from '../../engine/input-requests/input-request.ts';
import type { Server } from '../../engine/server.ts';
import { textOf } from './input-requests.ts';

const form = (field: string, type: 'string' | 'boolean' = 'string') =>
  ({ type: 'object', properties: { [field]: { type } }, required: [field] }) as const;

const params = (text: string, maxTokens: number) =>
  ({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens }) as const;
const inputRequest = (text: string, maxTokens: number) => sample(params(text, maxTokens));

/** A field of a form that was accepted, otherwise what the user did instead. */
export const fieldOf = (answer: { action: string; content?: unknown }, field: string): string =>
  answer.action === 'accept' ? String((answer.content as Record<string, unknown>)[field]) : `(${answer.action})`;

export function installInputRequired(server: Server): void {
  server.tool('test_input_required_result_elicitation', {
    description: 'Asks for a name and greets',
    run: async (_args, ctx) => {
      const answer = await ctx.requestInput('user_name', elicit('What is your name?', form('name')));
      return `Hello, ${fieldOf(answer, 'name')}!`;
    },
  });
  server.tool('test_input_required_result_sampling', {
    description: "Asks the client's model a question",
    run: async (_args, ctx) => {
      const answer = await ctx.requestInput('capital_question', inputRequest('What is the capital of France?', 100));
      return `Model says: ${textOf(answer.content)}`;
    },
  });
  server.tool('test_input_required_result_list_roots', {
    description: 'Lists the folders the client works in',
    run: async (_args, ctx) => {
      const found = await ctx.requestInput('client_roots', roots());
      return `Roots: ${found.map((each) => each.uri).join(', ')}`;
    },
  });
  server.tool('test_input_required_result_request_state', {
    description: 'Carries its own state from one attempt to the next',
    run: async (_args, ctx) => {
      const issued = await ctx.step('issued', () => crypto.randomUUID());
      const answer = await ctx.requestInput('confirm', elicit('Please confirm', form('ok', 'boolean')));
      return `state-ok: ${issued} confirmed=${fieldOf(answer, 'ok')}`;
    },
  });
  server.tool('test_input_required_result_multiple_inputs', {
    description: 'Sends three input requests at once',
    run: async (_args, ctx) => {
      await ctx.step('started', () => true);
      const { user_name, greeting, client_roots } = await ctx.requestInputs({
        user_name: elicit('What is your name?', form('name')),
        greeting: inputRequest('Generate a greeting', 50),
        client_roots: roots(),
      });
      return `${fieldOf(user_name, 'name')} / ${textOf(greeting.content)} / ${client_roots.length} roots`;
    },
  });
  server.tool('test_input_required_result_multi_round', {
    description: 'Sends one input request after another',
    run: async (_args, ctx) => {
      await ctx.step('started', () => true);
      const name = await ctx.requestInput('step1', elicit('Step 1: What is your name?', form('name')));
      const color = await ctx.requestInput('step2', elicit('Step 2: What is your favorite color?', form('color')));
      return `${fieldOf(name, 'name')} likes ${fieldOf(color, 'color')}`;
    },
  });
  server.tool('test_input_required_result_tampered_state', {
    description: 'Rejects state that differs from the state it issued',
    run: async (_args, ctx) => {
      await ctx.step('started', () => true);
      const answer = await ctx.requestInput('confirm', elicit('Please confirm', form('ok', 'boolean')));
      return `state-ok confirmed=${fieldOf(answer, 'ok')}`;
    },
  });
  server.tool('test_input_required_result_capabilities', {
    description: 'Sends only the input requests that the client supports',
    run: async (_args, ctx) => {
      const { name, greeting } = await ctx.requestInputs({
        name: elicit('What is your name?', form('name'), { optional: true }),
        greeting: sample(params('Generate a greeting', 50), { optional: true }),
      });
      const said = greeting === undefined ? 'no model' : textOf(greeting.content);
      return `${name === undefined ? 'nobody' : fieldOf(name, 'name')} / ${said}`;
    },
  });
  server.prompt('test_input_required_result_prompt', {
    description: 'A prompt that asks for context first',
    get: async (_args, ctx) => {
      const answer = await ctx.requestInput(
        'user_context',
        elicit('What context should the prompt use?', form('context')),
      );
      return `Use this context: ${fieldOf(answer, 'context')}`;
    },
  });
}
