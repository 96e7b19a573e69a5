import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { buildServer } from './sdk-old.mjs';

await buildServer().connect(new StdioServerTransport());
