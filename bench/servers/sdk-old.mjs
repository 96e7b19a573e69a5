// The official SDK, old line, with the bench tools; a server object serves one connection.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { textResult, tools } from './tools.mjs';

const ready = tools.map(({ shape, ...tool }) => ({ ...tool, inputSchema: shape(z) }));

export function buildServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  for (const { name, description, inputSchema, run } of ready) {
    server.registerTool(name, { description, inputSchema }, (input) => textResult(run(input)));
  }
  return server;
}
