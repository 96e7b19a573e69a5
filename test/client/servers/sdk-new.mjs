// The official SDK, new line, serving both eras from one factory: node sdk-new.mjs stdio | http | sessions
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (words) => ({ content: [{ type: 'text', text: words }] });
let cancellations = 0;
let counter = 0;
/** Told of every change of the counter. */
const watchers = new Set();

function build() {
  const server = new McpServer(
    { name: 'sdk-new', version: '1.0.0' },
    { capabilities: { resources: { subscribe: true, listChanged: true }, logging: {} } },
  );
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text: words }) => text(words));
  server.registerTool(
    'add',
    {
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool('steps', {}, async ({ mcpReq }) => {
    for (const progress of [1, 2, 3]) {
      const params = { progressToken: mcpReq._meta.progressToken, progress, total: 3 };
      await mcpReq.notify({ method: 'notifications/progress', params });
      await new Promise((next) => setTimeout(next, 20));
    }
    return text('done');
  });
  server.registerTool('wait', {}, ({ mcpReq }) => {
    return new Promise((resolve) => {
      mcpReq.signal.addEventListener('abort', () => {
        cancellations++;
        resolve(text('cancelled'));
      });
    });
  });
  server.registerTool('cancellations', {}, () => text(String(cancellations)));
  server.registerTool('ask', {}, ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'who');
    if (answer !== undefined) return text(`Hello, ${answer.name}!`);
    const requestedSchema = z.object({ name: z.string() });
    return inputRequired({
      inputRequests: { who: inputRequired.elicit({ message: 'Who are you?', requestedSchema }) },
    });
  });
  server.registerTool('think', {}, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'capital');
    if (answer.kind === 'sampling') return text(answer.result.content.text);
    const messages = [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }];
    return inputRequired({ inputRequests: { capital: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
  });
  server.registerTool('bump', {}, async () => {
    counter++;
    for (const tell of watchers) await tell();
    return text(String(counter));
  });
  server.registerResource('Greeting', 'demo://greeting', {}, ({ href: uri }) => ({
    contents: [{ uri, text: 'hello' }],
  }));
  server.registerResource('Counter', 'demo://counter', {}, ({ href: uri }) => ({
    contents: [{ uri, text: String(counter) }],
  }));
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }));
  const { server: wire } = server;
  const tell = () => wire.sendResourceUpdated({ uri: 'demo://counter' }).catch(() => {});
  wire.setRequestHandler('resources/subscribe', () => {
    watchers.add(tell);
    return {};
  });
  wire.setRequestHandler('resources/unsubscribe', () => {
    watchers.delete(tell);
    return {};
  });
  return server;
}

const mode = process.argv[2] ?? 'stdio';
if (mode === 'stdio') {
  // On the newest revision a pipe has one server for its whole life, which knows who listens to it.
  serveStdio(() => {
    const server = build();
    watchers.add(() => server.server.sendResourceUpdated({ uri: 'demo://counter' }).catch(() => {}));
    return server;
  });
} else {
  const handler = createMcpHandler(build);
  const serveAlone = toNodeHandler(handler);
  watchers.add(() => handler.notify.resourceUpdated('demo://counter'));
  const sessions = new Map();
  const serveSession = async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(id);
    if (id !== undefined && transport === undefined) return response.writeHead(404).end();
    if (transport === undefined) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, transport),
      });
      await build().connect(transport);
    }
    await transport.handleRequest(request, response);
  };
  const serve = mode === 'sessions' ? serveSession : serveAlone;
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1', () => console.error(`listening on http://127.0.0.1:${server.address().port}/mcp`));
}
