import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod';
import { StdioTransport } from '@tmcp/transport-stdio';
import { McpServer } from 'tmcp';
import { z } from 'zod';
import { textResult, tools } from './tools.mjs';

const server = new McpServer(
  { name: 'bench', version: '1.0.0', description: 'bench' },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
);
for (const { name, description, shape, run } of tools) {
  server.tool({ name, description, schema: z.object(shape(z)) }, (input) => textResult(run(input)));
}
new StdioTransport(server).listen();
