// The wiring its documentation shows: an express app, and one server with one transport per session.
import { randomUUID } from 'node:crypto';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { listening, onChange } from './control.mjs';
import { buildServer } from './sdk-old.mjs';

/** @type {Map<string, { server: ReturnType<typeof buildServer>, transport: StreamableHTTPServerTransport }>} */
const sessions = new Map();

async function openSession() {
  const server = buildServer();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
  });
  await server.connect(transport);
  return transport;
}

const app = createMcpExpressApp();
app.all('/mcp', async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id ? sessions.get(String(id))?.transport : await openSession();
  if (!transport) return response.status(404).end();
  await transport.handleRequest(request, response, request.body);
});

onChange(() => {
  for (const { server } of sessions.values()) server.sendToolListChanged();
});
const server = app.listen(0, '127.0.0.1', () => listening(/** @type {any} */ (server.address()).port));
