// tmcp with what the scenarios need: node tmcp.mjs stdio | http
import { serve } from '@hono/node-server';
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod';
import { HttpTransport } from '@tmcp/transport-http';
import { StdioTransport } from '@tmcp/transport-stdio';
import { McpServer } from 'tmcp';
import { z } from 'zod';

const text = (words) => ({ content: [{ type: 'text', text: words }] });
let counter = 0;
let cancellations = 0;

const server = new McpServer(
  { name: 'tmcp', version: '1.0.0', description: 'a test peer' },
  {
    adapter: new ZodJsonSchemaAdapter(),
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    },
  },
);
server.tool({ name: 'echo', description: 'Echoes', schema: z.object({ text: z.string() }) }, ({ text: words }) =>
  text(words),
);
server.tool(
  {
    name: 'add',
    description: 'Adds',
    schema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  },
  ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
);
server.tool({ name: 'steps', description: 'Reports progress' }, async () => {
  for (const step of [1, 2, 3]) {
    server.progress(step, 3);
    await new Promise((next) => setTimeout(next, 20));
  }
  return text('done');
});
server.tool({ name: 'ask', description: 'Asks who you are', replayable: true }, async () => {
  const { content } = await server.elicitation('Who are you?', z.object({ name: z.string() }));
  return text(`Hello, ${content?.name}!`);
});
server.tool({ name: 'think', description: 'Asks the model', replayable: true }, async () => {
  const messages = [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }];
  const { content } = await server.message({ messages, maxTokens: 10 });
  return text(content.text);
});
server.tool({ name: 'wait', description: 'Waits for the end' }, () => {
  const { signal } = server.ctx;
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => {
      cancellations++;
      resolve(text('cancelled'));
    });
  });
});
server.tool({ name: 'cancellations', description: 'Counts them' }, () => text(String(cancellations)));
server.tool({ name: 'bump', description: 'Counts' }, () => {
  counter++;
  server.changed('resource', 'demo://counter');
  return text(String(counter));
});
server.resource({ name: 'Greeting', description: 'hello', uri: 'demo://greeting' }, (uri) => ({
  contents: [{ uri, text: 'hello' }],
}));
server.resource({ name: 'Counter', description: 'counts', uri: 'demo://counter' }, (uri) => ({
  contents: [{ uri, text: String(counter) }],
}));
server.prompt({ name: 'greet', description: 'Greets', schema: z.object({ name: z.string() }) }, ({ name }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
}));
if (process.argv[2] === 'http') {
  const transport = new HttpTransport(server, { path: '/mcp' });
  const fetch = async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 });
  serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
    console.error(`listening on http://127.0.0.1:${port}/mcp`);
  });
} else new StdioTransport(server).listen();
