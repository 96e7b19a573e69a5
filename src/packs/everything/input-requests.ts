// Tools that send input requests to the client: forms, sampling, roots.

import type { Server } from '../../engine/server.ts';

const text = (name: string) =>
  ({
    type: 'object',
    properties: { [name]: { type: 'string' } },
    required: [name],
  }) as const;

const contactForm = {
  type: 'object',
  properties: {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  required: ['username', 'email'],
} as const;

const defaultsForm = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'User name', default: 'John Doe' },
    age: { type: 'integer', description: 'User age', default: 30 },
    score: { type: 'number', description: 'User score', default: 95.5 },
    status: {
      type: 'string',
      description: 'User status',
      enum: ['active', 'inactive', 'pending'],
      default: 'active',
    },
    verified: { type: 'boolean', description: 'Verification status', default: true },
  },
  required: [],
} as const;

const titled = (values: readonly string[], titles: readonly string[]) =>
  values.map((value, i) => ({ const: value, title: titles[i] as string }));

const enumsForm = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', description: 'Select one option', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      description: 'Select one option with titles',
      oneOf: titled(['value1', 'value2', 'value3'], ['First Option', 'Second Option', 'Third Option']),
    },
    legacyEnum: {
      type: 'string',
      description: 'Select one option, with titles in the old form',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: {
      type: 'array',
      description: 'Select several options',
      minItems: 1,
      maxItems: 3,
      items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    },
    titledMulti: {
      type: 'array',
      description: 'Select several options with titles',
      minItems: 1,
      maxItems: 3,
      items: { anyOf: titled(['value1', 'value2', 'value3'], ['First Choice', 'Second Choice', 'Third Choice']) },
    },
  },
  required: [],
} as const;

export function installInputRequests(server: Server): void {
  server.tool('test_sampling', {
    description: "Asks the client's model",
    input: text('prompt'),
    run: async ({ prompt }: Record<string, unknown>, ctx) => {
      const answer = await ctx.sample({
        messages: [{ role: 'user', content: { type: 'text', text: String(prompt) } }],
        maxTokens: 100,
      });
      return `LLM response: ${textOf(answer.content)}`;
    },
  });
  server.tool('test_elicitation', {
    description: 'Asks the user to fill in a form',
    input: text('message'),
    run: async ({ message }: Record<string, unknown>, ctx) => {
      const answer = await ctx.elicit(String(message), contactForm);
      return `User response: ${JSON.stringify(answer)}`;
    },
  });
  server.tool('test_elicitation_sep1034_defaults', {
    description: 'Asks with a form whose fields have defaults',
    run: async (_args, ctx) => {
      const answer = await ctx.elicit('Please review and update the form fields with defaults', defaultsForm);
      return `Elicitation completed: ${JSON.stringify(answer)}`;
    },
  });
  server.tool('test_elicitation_sep1330_enums', {
    description: 'Asks with every kind of choice a form can offer',
    run: async (_args, ctx) => {
      const answer = await ctx.elicit('Please select options from the enum fields', enumsForm);
      return `Elicitation completed: ${JSON.stringify(answer)}`;
    },
  });
  server.tool('test_elicitation_url', {
    description: 'Asks the user to visit a page',
    run: async (_args, ctx) => {
      const { action } = await ctx.elicitUrl('Please visit this page', 'https://example.com/consent');
      return `URL elicitation: ${action}`;
    },
  });
  server.tool('test_roots', {
    description: 'Lists the folders the client works in',
    run: async (_args, ctx) => {
      const found = await ctx.roots();
      return found.map(({ uri, name }) => (name === undefined ? uri : `${name}: ${uri}`)).join('\n');
    },
  });
  server.tool('test_missing_capability', {
    description: 'Needs a client that can sample',
    needs: ['sampling'],
    run: () => 'The client can sample',
  });
  server.tool('test_streaming_elicitation', {
    description: 'Reports progress, then asks for a form',
    run: async (_args, ctx) => {
      await ctx.progress(1, 2, 'asking');
      const answer = await ctx.elicit('Please confirm', {
        type: 'object',
        properties: { confirmed: { type: 'boolean' } },
        required: ['confirmed'],
      });
      return `User response: ${JSON.stringify(answer)}`;
    },
  });
}

export function textOf(content: unknown): string {
  const blocks = (Array.isArray(content) ? content : [content]) as { type: string; text?: string }[];
  return blocks.map((each) => each.text ?? `[${each.type}]`).join('\n');
}
