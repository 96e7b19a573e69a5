import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from 'mcp-lite';
import { z } from 'zod';
import { listening } from './control.mjs';
import { textResult, tools } from './tools.mjs';

const server = new McpServer({
  name: 'bench',
  version: '1.0.0',
  schemaAdapter: (schema) => z.toJSONSchema(/** @type {any} */ (schema)),
});
for (const { name, description, shape, run } of tools) {
  server.tool(name, { description, inputSchema: z.object(shape(z)), handler: (input) => textResult(run(input)) });
}
const transport = new StreamableHttpTransport({
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
});
const handle = transport.bind(server);
const app = new Hono().all('/mcp', (context) => handle(context.req.raw));
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => listening(port));
