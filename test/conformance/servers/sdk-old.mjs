// The server of the suite with the old line of the official SDK, over Streamable HTTP.
import { randomUUID } from 'node:crypto';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListRootsResultSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { complete, eventStore, prompts, read, resources, resourceTemplates, tools } from './offer.mjs';

const results = {
  'elicitation/create': ElicitResultSchema,
  'sampling/createMessage': CreateMessageResultSchema,
  'roots/list': ListRootsResultSchema,
};

/** What a tool can do with the client that calls it. */
const peerOf = (server, { _meta, sendNotification, sendRequest, closeSSEStream }) => ({
  can: (capability) => server.getClientCapabilities()?.[capability] !== undefined,
  need(capability) {
    if (!this.can(capability)) throw new McpError(-32602, `The client has no ${capability}`);
  },
  async ask(requests) {
    const answers = {};
    for (const [key, request] of Object.entries(requests)) {
      answers[key] = await sendRequest(request, results[request.method]);
    }
    return answers;
  },
  async progress(progress, total) {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return;
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total } });
  },
  log: (level, data) => sendNotification({ method: 'notifications/message', params: { level, data } }),
  closeStream: () => closeSSEStream?.(),
});

function build() {
  const capabilities = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    completions: {},
  };
  const server = new Server({ name: 'sdk-old', version: '1.0.0' }, { capabilities });
  const on = (schema, handler) => server.setRequestHandler(schema, handler);
  on(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { input }]) => ({
      name,
      description: `The tool ${name}`,
      inputSchema: input ?? { type: 'object' },
    })),
  }));
  on(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = tools[params.name];
    if (tool === undefined) throw new McpError(-32602, `Unknown tool: ${params.name}`);
    try {
      return await tool.run(params.arguments ?? {}, peerOf(server, extra));
    } catch (error) {
      return { content: [{ type: 'text', text: error.message }], isError: true };
    }
  });
  on(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: `The prompt ${name}`,
      arguments: prompt.arguments ?? [],
    })),
  }));
  on(GetPromptRequestSchema, async ({ params }, extra) => {
    const prompt = prompts[params.name];
    if (prompt === undefined) throw new McpError(-32602, `Unknown prompt: ${params.name}`);
    return { messages: await prompt.get(params.arguments ?? {}, peerOf(server, extra)) };
  });
  on(ListResourcesRequestSchema, () => ({ resources }));
  on(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }));
  on(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const contents = read(uri);
    if (contents === undefined) throw new McpError(-32002, 'Resource not found', { uri });
    return { contents };
  });
  on(CompleteRequestSchema, ({ params }) => complete(params.argument));
  for (const schema of [SubscribeRequestSchema, UnsubscribeRequestSchema, SetLevelRequestSchema])
    on(schema, () => ({}));
  return server;
}

const app = createMcpExpressApp();
const sessions = new Map();
app.all('/mcp', async (request, response) => {
  const id = request.headers['mcp-session-id'];
  let transport = sessions.get(id);
  if (id !== undefined && transport === undefined) return response.status(404).end();
  if (transport === undefined) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: eventStore(),
      retryInterval: 500,
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    await build().connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
});
const server = app.listen(0, '127.0.0.1', () => {
  console.error(`listening on http://127.0.0.1:${server.address().port}/mcp`);
});
