// The official SDK, old line, with what the scenarios need: node sdk-old.mjs stdio | http | sse
import { randomUUID } from 'node:crypto';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const text = (words) => ({ content: [{ type: 'text', text: words }] });
let cancellations = 0;
let counter = 0;

function build() {
  const server = new McpServer(
    { name: 'sdk-old', version: '1.0.0' },
    { capabilities: { resources: { subscribe: true, listChanged: true }, logging: {} } },
  );
  const { server: wire } = server;
  const watched = new Set();
  wire.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  wire.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text: words }) => text(words));
  server.registerTool(
    'add',
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool('steps', {}, async ({ _meta, sendNotification }) => {
    for (const progress of [1, 2, 3]) {
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress, total: 3 },
      });
      await new Promise((next) => setTimeout(next, 20));
    }
    return text('done');
  });
  server.registerTool('wait', {}, ({ signal }) => {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        cancellations++;
        resolve(text('cancelled'));
      });
    });
  });
  server.registerTool('cancellations', {}, () => text(String(cancellations)));
  server.registerTool('ask', {}, async () => {
    const { content } = await wire.elicitInput({
      message: 'Who are you?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    return text(`Hello, ${content?.name}!`);
  });
  server.registerTool('think', {}, async () => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }];
    const { content } = await wire.createMessage({ messages, maxTokens: 10 });
    return text(content.text);
  });
  server.registerTool('bump', {}, async () => {
    counter++;
    if (watched.has('demo://counter')) await wire.sendResourceUpdated({ uri: 'demo://counter' });
    return text(String(counter));
  });
  server.registerResource('Greeting', 'demo://greeting', {}, ({ href: uri }) => ({
    contents: [{ uri, text: 'hello' }],
  }));
  server.registerResource('Counter', 'demo://counter', {}, ({ href: uri }) => ({
    contents: [{ uri, text: String(counter) }],
  }));
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }));
  return server;
}

const mode = process.argv[2] ?? 'stdio';
if (mode === 'stdio') await build().connect(new StdioServerTransport());
else {
  const app = createMcpExpressApp();
  const sessions = new Map();
  app.all('/mcp', async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(id);
    if (id !== undefined && transport === undefined) return response.status(404).end();
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, transport),
        onsessionclosed: (session) => void sessions.delete(session),
      });
      await build().connect(transport);
    }
    await transport.handleRequest(request, response, request.body);
  });
  app.get('/sse', async (_request, response) => {
    const transport = new SSEServerTransport('/message', response);
    sessions.set(transport.sessionId, transport);
    await build().connect(transport);
  });
  app.post('/message', async (request, response) => {
    await sessions.get(request.query.sessionId)?.handlePostMessage(request, response, request.body);
  });
  const server = app.listen(0, '127.0.0.1', () => {
    console.error(`listening on http://127.0.0.1:${server.address().port}/${mode === 'sse' ? 'sse' : 'mcp'}`);
  });
}
