// Our client with servers of others that are packages of their own: the reference server, FastMCP, over every transport
// they have.
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import {
  demo,
  describeThirdParty,
  freePort,
  type Listening,
  referenceOffer,
  referenceServer,
  startListening,
  type ThirdPartyServer,
} from './third-party.ts';

const started: Listening[] = [];
afterAll(() => {
  for (const each of started) each.close();
});

const reference = {
  ...referenceOffer,
  revision: '2025-11-25',
  serverName: 'mcp-servers/everything',
} as const satisfies Partial<ThirdPartyServer>;

/** The reference server says on stderr where it listens, in its own words. */
const serveReference = async (mode: string, path: string): Promise<string> => {
  const port = await freePort();
  started.push(await startListening([referenceServer, mode], { PORT: String(port) }, /(running|listening) on port/i));
  return `http://127.0.0.1:${port}/${path}`;
};

describeThirdParty('the reference server over stdio', { ...reference, transport: 'stdio' }, () => [
  'node',
  referenceServer,
  'stdio',
]);
describeThirdParty('the reference server over HTTP', { ...reference, transport: 'http' }, () =>
  serveReference('streamableHttp', 'mcp'),
);
describeThirdParty('the reference server over HTTP+SSE', { ...reference, transport: 'sse' }, () =>
  serveReference('sse', 'sse'),
);

const script = fileURLToPath(new URL('servers/fastmcp.mjs', import.meta.url));
const fast = { ...demo, revision: '2025-11-25', serverName: 'fastmcp' } as const satisfies Partial<ThirdPartyServer>;

const serveFast = async (path: string): Promise<string> => {
  const port = await freePort();
  started.push(await startListening([script, 'http', String(port)]));
  return `http://127.0.0.1:${port}/${path}`;
};

describeThirdParty('FastMCP over stdio', { ...fast, transport: 'stdio' }, () => ['node', script, 'stdio']);
describeThirdParty('FastMCP over HTTP', { ...fast, transport: 'http' }, () => serveFast('mcp'));
describeThirdParty('FastMCP over HTTP+SSE', { ...fast, transport: 'sse' }, () => serveFast('sse'));
