// The wiring its documentation shows: a handler made from the factory for stateless requests, a transport per session.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { listening, onChange } from './control.mjs';
import { buildServer } from './sdk-new.mjs';

const isHostAllowed = localhostHostValidation();
const isOriginAllowed = localhostOriginValidation();
const handler = createMcpHandler(buildServer);
const serveStateless = toNodeHandler(handler);
/** @type {Map<string, { server: ReturnType<typeof buildServer>, transport: NodeStreamableHTTPServerTransport }>} */
const sessions = new Map();

async function openSession() {
  const server = buildServer();
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
  });
  await server.connect(transport);
  return transport;
}

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function serveSession(request, response) {
  const id = request.headers['mcp-session-id'];
  const transport = id ? sessions.get(String(id))?.transport : await openSession();
  if (!transport) return response.writeHead(404).end();
  await transport.handleRequest(request, response);
}

const serve = process.env.BENCH_ERA === 'stateless' ? serveStateless : serveSession;
const server = createServer((request, response) => {
  if (isHostAllowed(request, response) && isOriginAllowed(request, response)) void serve(request, response);
});

onChange(() => {
  handler.notify.toolsChanged();
  for (const session of sessions.values()) session.server.sendToolListChanged();
});
server.listen(0, '127.0.0.1', () => listening(/** @type {any} */ (server.address()).port));
