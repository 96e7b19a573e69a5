// Our client with the servers of others: the official SDK, old and new line, and tmcp.
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { demo, describeThirdParty, type Listening, startListening, type ThirdPartyServer } from './third-party.ts';

const script = (name: string) => fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url));
const started: Listening[] = [];
afterAll(() => {
  for (const each of started) each.close();
});
const serve = async (name: string, mode: string): Promise<string> => {
  const server = await startListening([script(name), mode]);
  started.push(server);
  return server.url;
};

const common = {
  ...demo,
  structured: { call: ['add', { a: 1, b: 2 }], value: { sum: 3 } },
} as const satisfies Partial<ThirdPartyServer>;

const old = { ...common, serverName: 'sdk-old', revision: '2025-11-25' } as const;
describeThirdParty('the old line over stdio', { ...old, transport: 'stdio' }, () => [
  'node',
  script('sdk-old'),
  'stdio',
]);
describeThirdParty('the old line over HTTP', { ...old, transport: 'http' }, () => serve('sdk-old', 'http'));
describeThirdParty('the old line over HTTP+SSE', { ...old, transport: 'sse' }, () => serve('sdk-old', 'sse'));

const young = { ...common, serverName: 'sdk-new' } as const;
const newest = { ...young, revision: '2026-07-28' } as const;
const session = { ...young, revision: '2025-11-25' } as const;
describeThirdParty('the new line over stdio', { ...newest, transport: 'stdio' }, () => [
  'node',
  script('sdk-new'),
  'stdio',
]);
describeThirdParty('the new line over HTTP', { ...newest, transport: 'http' }, () => serve('sdk-new', 'http'));
describeThirdParty(
  'the new line over stdio, with a handshake',
  { ...session, transport: 'stdio' },
  () => ['node', script('sdk-new'), 'stdio'],
  { revision: 'handshake' },
);
describeThirdParty('the new line over HTTP, with sessions', { ...session, transport: 'http' }, () =>
  serve('sdk-new', 'sessions'),
);

const tmcp = { ...common, serverName: 'tmcp' };
// Over stdio its tools are not told.
const { cancels: _, ...piped } = tmcp;
describeThirdParty('tmcp over stdio', { ...piped, revision: '2026-07-28', transport: 'stdio' }, () => [
  'node',
  script('tmcp'),
]);
describeThirdParty(
  'tmcp over stdio, with a handshake',
  { ...piped, revision: '2025-06-18', transport: 'stdio' },
  () => ['node', script('tmcp')],
  { revision: 'handshake' },
);
describeThirdParty('tmcp over HTTP', { ...tmcp, revision: '2026-07-28', transport: 'http' }, () =>
  serve('tmcp', 'http'),
);
describeThirdParty(
  'tmcp over HTTP, with sessions',
  { ...tmcp, revision: '2025-06-18', transport: 'http' },
  () => serve('tmcp', 'http'),
  { revision: 'handshake' },
);
