// Our client with servers of others that are packages of their own: the reference server, FastMCP, over every transport
// they have.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import {
  demo,
  describeThirdParty,
  freePort,
  type Listening,
  startListening,
  type ThirdPartyServer,
} from './third-party.ts';

const started: Listening[] = [];
afterAll(() => {
  for (const each of started) each.close();
});

const require = createRequire(import.meta.url);
const everything = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);

const reference = {
  revision: '2025-11-25',
  serverName: 'mcp-servers/everything',
  echo: ['echo', { message: 'hi' }],
  echoes: 'Echo: hi',
  structured: { call: ['get-structured-content', { location: 'Chicago' }], value: { temperature: 36 } },
  progress: { call: ['trigger-long-running-operation', { duration: 0.4, steps: 4 }], steps: [1, 2, 3, 4] },
  asks: { call: ['trigger-elicitation-request'], text: /Name: Ada/ },
  samples: { call: ['trigger-sampling-request', { prompt: 'Capital?', maxTokens: 10 }], text: /Paris/ },
  // It works on regardless, so that it can not tell.
  cancels: { call: ['trigger-long-running-operation', { duration: 20, steps: 2 }] },
  watches: { uri: 'demo://resource/static/document/architecture.md', trigger: ['toggle-subscriber-updates'] },
  resource: { uri: 'demo://resource/static/document/architecture.md', text: /Architecture/ },
  prompt: { name: 'args-prompt', args: { city: 'Hamburg' }, text: /Hamburg/ },
} as const satisfies Partial<ThirdPartyServer>;

/** The reference server says on stderr where it listens, in its own words. */
const serveReference = async (mode: string, path: string): Promise<string> => {
  const port = await freePort();
  started.push(await startListening([everything, mode], { PORT: String(port) }, /(running|listening) on port/i));
  return `http://127.0.0.1:${port}/${path}`;
};

describeThirdParty('the reference server over stdio', { ...reference, transport: 'stdio' }, () => [
  'node',
  everything,
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
