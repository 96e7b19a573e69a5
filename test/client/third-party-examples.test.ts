// Our client with the example servers that come with the official SDK, old line, exactly as they are shipped.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { describeThirdParty, freePort, type Listening, startListening } from './third-party.ts';

const require = createRequire(import.meta.url);
const examples = join(dirname(require.resolve('@modelcontextprotocol/sdk/client')), '../examples/server');
const example = (name: string): string => join(examples, `${name}.js`);

const started: Listening[] = [];
afterAll(() => {
  for (const each of started) each.close();
});

describeThirdParty(
  'the example over HTTP',
  {
    revision: '2025-11-25',
    transport: 'http',
    serverName: 'simple-streamable-http-server',
    echo: ['greet', { name: 'Ada' }],
    echoes: 'Hello, Ada!',
    asks: { call: ['collect-user-info', { infoType: 'contact' }], text: /ada@example\.org/ },
    cancels: { call: ['start-notification-stream', { interval: 50, count: 100 }] },
    resource: { uri: 'https://example.com/greetings/default', text: /^Hello, world!$/ },
    prompt: { name: 'greeting-template', args: { name: 'Ada' }, text: /greet Ada/ },
  },
  async () => {
    const port = await freePort();
    const script = example('simpleStreamableHttp');
    started.push(await startListening([script], { MCP_PORT: String(port) }, /listening on port/));
    return `http://127.0.0.1:${port}/mcp`;
  },
);

test('the example with structured results is served over stdio, and its results fit their schema', async () => {
  const client = await connect([process.execPath, example('mcpServerOutputSchema')]);
  try {
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['get_weather']);
    const { structuredContent } = await client.callTool('get_weather', { city: 'Hamburg', country: 'DE' });
    expect(structuredContent).toMatchObject({ temperature: { celsius: expect.any(Number) } });
  } finally {
    await client.close();
  }
});

test('the example that writes a log line to its stdout is understood, and may send sampling requests', async () => {
  const client = await connect([process.execPath, example('toolWithSampleServer')], {
    handlers: {
      sample: ({ messages }) => ({
        role: 'assistant',
        model: 'a-model',
        content: { type: 'text', text: `${messages.length} message, in short` },
      }),
    },
  });
  try {
    const { content } = await client.callTool('summarize', { text: 'a long story' });
    expect(content).toEqual([{ type: 'text', text: '1 message, in short' }]);
  } finally {
    await client.close();
  }
});
