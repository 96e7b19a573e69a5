// The server of all transcripts: one of each feature, nothing that depends on time or randomness.

import {
  createServer,
  elicit,
  inputRequired,
  roots,
  type Server,
  type ServerOptions,
  sample,
  WireError,
} from '../../src/index.ts';

const png = 'iVBORw0KGgo=';

/** `receipts`: numbers of the tool `ask_phases`. Servers with the same object share them, as they would in a database. */
export function transcriptServer(options: Partial<ServerOptions> = {}, receipts = { last: 0 }): Server {
  const server = createServer({
    name: 'transcript-server',
    version: '1.0.0',
    title: 'Transcript server',
    description: 'For transcripts',
    websiteUrl: 'https://example.com',
    icons: [{ src: 'https://example.com/icon.png', mimeType: 'image/png' }],
    instructions: 'Be brief.',
    extensions: { 'com.example/spice': { level: 3 } },
    limits: { pageSize: 20 },
    ...options,
  });
  server.tool('add', {
    title: 'Add',
    description: 'Adds two numbers',
    icons: [{ src: 'https://example.com/add.png' }],
    annotations: { readOnlyHint: true, idempotentHint: true },
    _meta: { 'com.example/owner': 'maths' },
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
    run: ({ a, b }) => String(a + b),
  });
  server.tool('weather', {
    description: 'Structured object',
    output: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
    run: () => ({ celsius: 21 }),
  });
  server.tool('names', {
    description: 'Structured array',
    output: { type: 'array', items: { $ref: '#/$defs/name' }, $defs: { name: { type: 'string' } } },
    run: () => ['ada', 'bob'],
  });
  server.tool('media', {
    description: 'Each kind of content',
    run: () => [
      {
        type: 'text',
        text: 'hello',
        annotations: { audience: ['user'], priority: 0.5, lastModified: '2025-01-01T00:00:00Z' },
        _meta: { 'com.example/n': 1 },
      },
      { type: 'image', data: png, mimeType: 'image/png', annotations: { lastModified: '2025-01-01T00:00:00Z' } },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      {
        type: 'resource',
        resource: { uri: 'memo://one', mimeType: 'text/plain', text: 'one', _meta: { 'com.example/n': 2 } },
      },
      {
        type: 'resource_link',
        uri: 'memo://two',
        name: 'two',
        title: 'Two',
        mimeType: 'text/plain',
        icons: [{ src: 'https://example.com/two.png' }],
      },
    ],
  });
  server.tool('fail', {
    description: 'Fails',
    run: () => {
      throw new Error('out of ink');
    },
  });
  server.tool('count', {
    description: 'Progress and logs',
    run: async (_args, ctx) => {
      await ctx.progress(1, 2, 'one');
      await ctx.progress(1, 2, 'again');
      ctx.log('debug', 'quiet');
      ctx.log('warning', { loud: true }, 'counter');
      await ctx.progress(2, 2, 'two');
      return 'counted';
    },
  });
  server.tool('wait', {
    description: 'Waits to be cancelled',
    run: (_args, ctx) =>
      new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
  });
  server.tool('ask_name', {
    description: 'Asks by a form',
    run: async (_args, ctx) => {
      const answer = await ctx.elicit(
        'Who are you?',
        {
          type: 'object',
          properties: {
            name: { type: 'string', default: 'Ann' },
            color: {
              type: 'string',
              oneOf: [
                { const: 'r', title: 'Red' },
                { const: 'b', title: 'Blue' },
              ],
            },
            nice: { type: 'boolean', default: true },
          },
          required: ['name'],
        },
        { key: 'name' },
      );
      return answer.action === 'accept' ? `hello ${String(answer.content.name)}` : answer.action;
    },
  });
  server.tool('ask_url', {
    description: 'Asks by a URL',
    run: async (_args, ctx) => (await ctx.elicitUrl('Sign here', 'https://example.com/sign', { key: 'sign' })).action,
  });
  server.tool('ask_model', {
    description: 'Asks the model',
    run: async (_args, ctx) => {
      const { content } = await ctx.requestInput(
        'model',
        sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Say hi' } }], maxTokens: 5 }),
      );
      return (content as { text: string }).text;
    },
  });
  server.tool('ask_roots', {
    description: 'Asks for roots',
    run: async (_args, ctx) => (await ctx.requestInput('roots', roots())).map((each) => each.uri).join(' '),
  });
  server.tool('ask_twice', {
    description: 'Two rounds with a step between',
    run: async (_args, ctx) => {
      const form = (field: string) =>
        ({ type: 'object', properties: { [field]: { type: 'string' } }, required: [field] }) as const;
      const first = await ctx.requestInput('first', elicit('First?', form('x')));
      const receipt = await ctx.step('charge', () => 'receipt-1');
      const second = await ctx.requestInput('second', elicit('Second?', form('y')));
      return `${first.content?.['x']} ${receipt} ${second.content?.['y']}`;
    },
  });
  server.tool('ask_phases', {
    description: 'Returns its questions instead of waiting',
    run: async (_args, ctx) => {
      const who = { who: roots() };
      const found = await ctx.inputResponses(who);
      if (found === undefined) return inputRequired(who);
      const receipt = await ctx.step('charge', () => `receipt-${++receipts.last}`);
      const rest = {
        model: sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Say hi' } }], maxTokens: 5 }),
        name: elicit('Name?', { type: 'object', properties: { x: { type: 'string' } } }, { optional: true }),
      };
      const said = await ctx.inputResponses(rest);
      if (said === undefined) return inputRequired(rest);
      const { text } = said.model.content as { text: string };
      return `${found.who[0]?.uri} ${receipt} ${text} ${said.name?.action ?? 'nobody'}`;
    },
  });
  server.tool('needs_model', { description: 'Needs sampling', needs: ['sampling'], run: () => 'fine' });
  server.tool('touch', {
    description: 'Changes memo://one',
    run: () => {
      server.resourceUpdated('memo://one');
      return 'touched';
    },
  });
  let extra: { remove(): void } | undefined;
  server.tool('grow', {
    description: 'Adds or removes a prompt',
    run: () => {
      if (extra === undefined) extra = server.prompt('extra', { get: () => 'extra' });
      else {
        extra.remove();
        extra = undefined;
      }
      return 'done';
    },
  });
  server.resource('memo://one', {
    name: 'one',
    title: 'One',
    description: 'The first memo',
    mimeType: 'text/plain',
    size: 3,
    icons: [{ src: 'https://example.com/one.png' }],
    annotations: { priority: 1, lastModified: '2025-01-01T00:00:00Z' },
    _meta: { 'com.example/n': 3 },
    cache: { ttlMs: 5000, cacheScope: 'public' },
    read: () => 'one',
  });
  server.resource('memo://blob', {
    name: 'blob',
    mimeType: 'application/octet-stream',
    annotations: { lastModified: '2025-01-01T00:00:00Z' },
    read: () => new Uint8Array([1, 2, 3]),
  });
  server.resourceTemplate('memo://page/{n}', {
    name: 'page',
    title: 'Page',
    mimeType: 'text/plain',
    read: ({ n }) => (Number(n) < 10 ? `page ${n}` : undefined),
    complete: { n: (value) => ['1', '2', '21'].filter((each) => each.startsWith(value)) },
  });
  server.prompt('greet', {
    title: 'Greet',
    description: 'Greets someone',
    icons: [{ src: 'https://example.com/greet.png' }],
    args: {
      name: { title: 'Name', description: 'Whom', required: true },
      style: {
        complete: (value, known) =>
          (known['name'] === 'Ada' ? ['formal'] : ['casual', 'curt']).filter((each) => each.startsWith(value)),
      },
    },
    get: ({ name, style }) => `Greet ${name}${style === undefined ? '' : ` in a ${style} style`}`,
  });
  return server;
}

/** The server of the transcripts about tasks. */
export function taskServer(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: 'task-server', version: '1.0.0', logger: false, ...options });
  server.tool('plain', { description: 'Never a task', run: () => 'plain' });
  server.tool('work', { description: 'Ends at once', task: { start: 'immediately' }, run: () => 'done' });
  server.tool('required', { description: 'Only as a task', task: 'required', run: () => 'done' });
  server.tool('wait', {
    description: 'Ends when it is cancelled',
    task: 'required',
    run: (_args, ctx) =>
      new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
  });
  server.tool('report', {
    description: 'Reports progress, logs, and waits',
    task: 'required',
    run: (_args, ctx) => {
      void ctx.progress(1, 2, 'half');
      ctx.log('info', 'still here');
      return new Promise(() => {});
    },
  });
  server.tool('ask', {
    description: 'Asks for two names',
    task: 'required',
    run: async (_args, ctx) => {
      const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
      const answers = await ctx.requestInputs({ first: elicit('First?', form), second: elicit('Second?', form) });
      return `${answers.first.action} ${answers.second.action}`;
    },
  });
  server.tool('fail', {
    description: 'A result that reports an error',
    task: 'required',
    run: () => ({ content: [{ type: 'text', text: 'no ink' }], isError: true }),
  });
  server.tool('break', {
    description: 'An error of the protocol',
    task: 'required',
    run: () => {
      throw new WireError('internal', 'no power');
    },
  });
  return server;
}
