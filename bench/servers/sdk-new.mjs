// The official SDK, new line, with the bench tools; its transports call the factory as often as they need a server.
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { textResult, tools } from './tools.mjs';

const ready = tools.map(({ shape, ...tool }) => ({ ...tool, inputSchema: z.object(shape(z)) }));

export function buildServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  for (const { name, description, inputSchema, run } of ready) {
    server.registerTool(name, { description, inputSchema }, (input) => textResult(run(input)));
  }
  return server;
}
