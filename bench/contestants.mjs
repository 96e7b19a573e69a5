// Who takes part. A new server is one file in servers/ and one row here.
import { existsSync, readdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {'handshake' | 'stateless'} Era  connection opened by `initialize`, or every request on its own
 *
 * @typedef {object} Contestant
 * @property {string} id       what claims and `--only` refer to
 * @property {string} name     what tables show
 * @property {string} [file]   in servers/; clients have none, they are entries of clients/load.mjs
 * @property {Era[]} eras
 * @property {boolean} [bare]  a reference, which checks nothing and so is not asked to refuse bad arguments
 * @property {Record<string, string>} [env]
 * @property {string[]} [nodeArgs]  options of Node itself
 * @property {string} [asks]  the handshake revision to ask for, where it is not the newest one
 * @property {string[]} [needs]  packages it cannot run without
 * @property {string} [needsExport]  of our own build
 * @property {string} [needsFile]  of our own build
 * @property {'json' | 'sse'} [shape]  HTTP: what a POST is answered with
 * @property {string} [accepts]  HTTP: media types to ask for, where they are not both
 * @property {string[]} [needsPrograms]  of the system
 * @property {string} [counts]  HTTP: the figures are those of the processes it has started whose command lines contain this
 * @property {boolean} [manyCores]  HTTP: runs on all cores but that of the load, because it has several processes
 * @property {string[]} [needsPython]  packages of Python it cannot run without
 * @property {boolean} [compileCache]  starts with code that Node.js stored at an earlier start (NODE_COMPILE_CACHE)
 * @property {boolean} [streams]  HTTP: keeps streams open and can publish a change to them
 */

/** @type {Era[]} */
const both = ['handshake', 'stateless'];

/** @type {Contestant[]} */
const stdio = [
  { id: 'bare', name: 'bare script', file: 'bare-stdio.mjs', eras: both, bare: true },
  {
    id: 'bare-coalesced',
    name: 'bare script, coalesced writes',
    file: 'bare-stdio.mjs',
    eras: both,
    bare: true,
    env: { BENCH_COALESCE: '1' },
  },
  { id: 'mooring', name: 'mooring', file: 'mooring-stdio.mjs', eras: both, needsExport: 'serveStdio' },
  {
    id: 'mooring-cached',
    name: 'mooring, compile cache',
    file: 'mooring-stdio.mjs',
    eras: both,
    compileCache: true,
    needsExport: 'serveStdio',
  },
  {
    id: 'mooring-async',
    name: 'mooring, async handlers',
    file: 'mooring-stdio.mjs',
    eras: both,
    env: { BENCH_HANDLER: 'async' },
    needsExport: 'serveStdio',
  },
  {
    id: 'mooring-zod',
    name: 'mooring, zod schemas',
    file: 'mooring-stdio.mjs',
    eras: both,
    env: { BENCH_SCHEMA: 'zod' },
    needsExport: 'serveStdio',
    needs: ['zod'],
  },
  {
    id: 'sdk-old',
    name: 'official SDK, old line',
    file: 'sdk-old-stdio.mjs',
    eras: ['handshake'],
    needs: ['@modelcontextprotocol/sdk'],
  },
  {
    id: 'sdk-new',
    name: 'official SDK, new line',
    file: 'sdk-new-stdio.mjs',
    eras: both,
    needs: ['@modelcontextprotocol/server'],
  },
  {
    id: 'tmcp',
    name: 'tmcp',
    file: 'tmcp-stdio.mjs',
    eras: both,
    needs: ['tmcp', '@tmcp/transport-stdio', '@tmcp/adapter-zod'],
  },
];

/** @type {Contestant[]} */
const http = [
  { id: 'bare', name: 'bare node:http', file: 'bare-http.mjs', eras: both, bare: true, shape: 'json', streams: true },
  {
    id: 'bare-sse',
    name: 'bare node:http, one event',
    file: 'bare-http.mjs',
    eras: both,
    bare: true,
    shape: 'sse',
    env: { BENCH_SHAPE: 'sse' },
  },
  {
    id: 'mooring',
    name: 'mooring',
    file: 'mooring-http.mjs',
    eras: both,
    shape: 'json',
    streams: true,
    needsExport: 'serveHttp',
  },
  {
    id: 'mooring-sse',
    name: 'mooring, one event',
    file: 'mooring-http.mjs',
    eras: both,
    shape: 'sse',
    accepts: 'text/event-stream',
    needsExport: 'serveHttp',
  },
  {
    id: 'mcp-lite',
    name: 'mcp-lite',
    file: 'mcp-lite-http.mjs',
    eras: ['handshake'],
    asks: '2025-06-18',
    shape: 'sse',
    needs: ['mcp-lite', 'hono', '@hono/node-server'],
  },
  {
    id: 'sdk-old',
    name: 'official SDK, old line',
    file: 'sdk-old-http.mjs',
    eras: ['handshake'],
    shape: 'json',
    streams: true,
    needs: ['@modelcontextprotocol/sdk'],
  },
  {
    id: 'sdk-new',
    name: 'official SDK, new line',
    file: 'sdk-new-http.mjs',
    eras: both,
    shape: 'json',
    streams: true,
    needs: ['@modelcontextprotocol/server', '@modelcontextprotocol/node'],
  },
];

/** @type {Contestant[]} */
const notes = [
  {
    id: 'mooring',
    name: 'mooring serve reference',
    file: 'notes-mooring.mjs',
    eras: ['handshake'],
    needsExport: 'serveStdio',
  },
  {
    id: 'memory',
    name: 'official memory server',
    file: 'notes-memory.mjs',
    eras: ['handshake'],
    needs: ['@modelcontextprotocol/server-memory'],
  },
];

/** @type {Contestant[]} */
const profiles = [
  { id: 'bare', name: 'bare script', file: 'bare-stdio.mjs', eras: ['handshake'], bare: true },
  ...['clipboard', 'reference', 'local'].map((name) => ({
    id: name === 'clipboard' ? 'mooring' : name,
    name: `mooring serve ${name}`,
    file: 'profile.mjs',
    eras: /** @type {Era[]} */ (['handshake']),
    env: { BENCH_PROFILE: name },
    needsExport: 'serveStdio',
  })),
];

/** @type {Contestant[]} */
const tasks = [
  { id: 'mooring', name: 'mooring, tasks in memory' },
  { id: 'sqlite', name: 'mooring, tasks in SQLite' },
].map((each) => ({
  ...each,
  file: 'mooring-tasks-stdio.mjs',
  eras: /** @type {Era[]} */ (['stateless']),
  needsExport: 'serveStdio',
}));

const guards = {
  nothing: 'mooring, nothing',
  policy: 'mooring, policy',
  audit: 'mooring, audit log',
  'policy+audit': 'mooring, both',
};

/** @type {Contestant[]} */
const guard = Object.entries(guards).map(([id, name]) => ({
  id,
  name,
  file: 'mooring-pair-http.mjs',
  eras: both,
  shape: 'json',
  env: { BENCH_WITH: id },
  needsExport: 'serveHttp',
  needsFile: 'security.js',
}));

/** @type {Contestant[]} */
const scale = [
  { id: 'mooring', name: 'one process' },
  { id: 'workers-1', name: '--workers 1', env: { BENCH_ARGS: '--workers 1' } },
  { id: 'workers-2', name: '--workers 2', env: { BENCH_ARGS: '--workers 2' } },
  { id: 'redis', name: 'one process, Redis', env: { BENCH_REDIS: 'true' }, needsPrograms: ['redis-server'] },
].map((each) => ({
  ...each,
  file: 'scale.mjs',
  eras: both,
  shape: /** @type {const} */ ('json'),
  counts: 'dist/cli.js',
  manyCores: true,
  needsExport: 'serveHttp',
}));

/** @type {Contestant[]} */
const bus = [
  { id: 'none', name: 'mooring', env: { BENCH_WITH: 'nothing' } },
  { id: 'redis', name: 'mooring, Redis', env: { BENCH_WITH: 'redis' }, needsPrograms: ['redis-server'] },
].map((each) => ({
  ...each,
  file: 'mooring-pair-http.mjs',
  eras: both,
  shape: /** @type {const} */ ('json'),
  needsExport: 'serveHttp',
}));

/** @type {Contestant[]} */
const schema = [
  { id: 'mooring', name: 'mooring' },
  { id: 'same', name: 'mooring, the same again' },
  { id: 'closures', name: 'mooring, no generated code', nodeArgs: ['--disallow-code-generation-from-strings'] },
].map((each) => ({
  ...each,
  file: 'mooring-schema-stdio.mjs',
  eras: /** @type {Era[]} */ (['handshake']),
  needsExport: 'serveStdio',
}));

/** @type {Contestant[]} */
const client = [
  { id: 'mooring', name: 'mooring', eras: both, needsFile: 'client.js' },
  { id: 'sdk-old', name: 'official SDK, old line', eras: ['handshake'], needs: ['@modelcontextprotocol/sdk'] },
  { id: 'sdk-new', name: 'official SDK, new line', eras: both, needs: ['@modelcontextprotocol/client'] },
];

const require = nodeModule.createRequire(import.meta.url);
const build = new URL('../dist/index.js', import.meta.url);
/** @type {Record<string, unknown> | undefined} */
const ours = existsSync(build) ? await import(build.href) : undefined;

/** Of peers with many dependencies, which would change those of the others. */
const ownFolder = fileURLToPath(new URL('gateways/node_modules', import.meta.url));
/** The same for packages of Python. */
export const pythonFolder = fileURLToPath(new URL('gateways/python', import.meta.url));

/** The folder of an installed package. @param {string} name */
export const packageFolder = (name) =>
  [...(require.resolve.paths(name) ?? []), ownFolder]
    .map((folder) => `${folder}/${name}`)
    .find((folder) => existsSync(`${folder}/package.json`));

/** What keeps a contestant from running, in words. @param {Contestant} contestant @returns {string | undefined} */
function obstacle({ needs = [], needsExport, needsFile, needsPrograms = [], needsPython = [], compileCache }) {
  if (compileCache && !('enableCompileCache' in nodeModule)) return 'Node.js 22.8 or newer is needed';
  if (needsExport && !ours) return 'dist/ is missing: run `npm run build`';
  if (needsExport && !ours?.[needsExport]) return `the build has no ${needsExport}`;
  if (needsFile && !existsSync(new URL(needsFile, build))) return `the build has no ${needsFile}`;
  const folders = (process.env.PATH ?? '').split(':');
  const missing = [
    ...needs.filter((name) => packageFolder(name) === undefined),
    ...needsPython.filter((name) => !existsSync(`${pythonFolder}/${name}`)),
    ...needsPrograms.filter((name) => !folders.some((folder) => existsSync(`${folder}/${name}`))),
  ];
  return missing.length > 0 ? `not installed: ${missing.join(', ')}` : undefined;
}

/** The version of an installed package. @param {string} name @returns {string | undefined} */
function versionOf(name) {
  const folder = packageFolder(name);
  return folder && require(`${folder}/package.json`).version;
}

/** @param {string} name @returns {string | undefined} */
function pythonVersion(name) {
  const folders = existsSync(pythonFolder) ? readdirSync(pythonFolder) : [];
  return folders.map((folder) => new RegExp(`^${name}-(.+)\\.dist-info$`).exec(folder)?.[1]).find((version) => version);
}

/** @type {Contestant[]} */
const consoles = [
  { id: 'none', name: 'mooring, no console', env: { BENCH_WITH: 'nothing' } },
  { id: 'unwatched', name: 'mooring, console without a page', env: { BENCH_WITH: 'unwatched-console' } },
  { id: 'watched', name: 'mooring, console with a page', env: { BENCH_WITH: 'console' } },
].map((each) => ({
  ...each,
  file: 'mooring-pair-http.mjs',
  eras: both,
  shape: /** @type {const} */ ('json'),
  needsExport: 'serveHttp',
  needsFile: 'console.js',
}));

/** @type {Contestant[]} */
const wrap = [
  { id: 'bare', name: 'bare script', file: 'bare-stdio.mjs', eras: both, bare: true },
  {
    id: 'wrap',
    name: 'inspect --wrap around the bare script',
    file: 'wrap-stdio.mjs',
    eras: both,
    needsExport: 'serveStdio',
    needsFile: 'console.js',
  },
];

/** @type {Contestant[]} */
const gateway = [
  ...[
    ['stdio', 'stdio'],
    ['http', 'http'],
    ['http', 'stdio'],
  ].flatMap(([front, back]) => {
    const env = { BENCH_FRONT: front, BENCH_BACK: back };
    const shape = /** @type {const} */ ('json');
    const pair = `${front} to ${back}`;
    return [
      {
        id: `bare-${front}-${back}`,
        name: `bare relay, ${pair}`,
        file: 'bare-relay.mjs',
        eras: both,
        bare: true,
        shape,
        env,
      },
      {
        id: `${front}-${back}`,
        name: `mooring, ${pair}`,
        file: 'mooring-gateway.mjs',
        eras: both,
        shape,
        env,
        needsFile: 'gateway.js',
      },
    ];
  }),
  ...['mcp-proxy', 'supergateway'].map((name) => ({
    id: name,
    name: `${name}, http to stdio`,
    file: 'gateway.mjs',
    eras: /** @type {Era[]} */ (['handshake']),
    shape: /** @type {const} */ ('sse'),
    env: { BENCH_GATEWAY: name },
    needs: [name],
  })),
  {
    id: 'fastmcp',
    name: 'FastMCP proxy (Python), http to stdio',
    file: 'fastmcp-proxy.mjs',
    eras: both,
    shape: 'json',
    counts: 'fastmcp-proxy.py',
    needsPython: ['fastmcp'],
  },
];

/** @type {Contestant[]} */
const gatewayStart = [
  ...profiles.filter(({ id }) => id === 'bare' || id === 'mooring'),
  {
    id: 'gateway',
    name: 'mooring gateway, 20 servers',
    file: 'gateway-start.mjs',
    eras: ['handshake'],
    needsExport: 'serveStdio',
  },
  {
    id: 'connect',
    name: 'mooring connect, 20 servers',
    file: 'gateway-start.mjs',
    env: { BENCH_COMMAND: 'connect' },
    eras: ['handshake'],
    needsExport: 'serveStdio',
  },
];

export const contestants = {
  stdio,
  http,
  guard,
  schema,
  client,
  notes,
  profiles,
  tasks,
  console: consoles,
  wrap,
  gateway,
  'gateway-start': gatewayStart,
  scale,
  bus,
};
const peers = [...stdio, ...http, ...client, ...notes, ...gateway];

/** The versions of the installed packages of all peers, by name. */
export const peerVersions = Object.fromEntries(
  [
    ...peers.flatMap(({ needs = [] }) => needs).map((name) => [name, versionOf(name)]),
    ...peers.flatMap(({ needsPython = [] }) => needsPython).map((name) => [`${name} (Python)`, pythonVersion(name)]),
  ].filter(([, version]) => version !== undefined),
);

/**
 * Those that can run, and why the others cannot.
 * @param {keyof typeof contestants} transport
 * @param {string[]} [only]  ids
 */
export function field(transport, only) {
  const wanted = contestants[transport].filter(({ id }) => !only || only.includes(id));
  const absent = wanted.flatMap((one) => (obstacle(one) ? [{ name: one.name, why: obstacle(one) }] : []));
  return { present: wanted.filter((one) => obstacle(one) === undefined), absent };
}

/** @param {Contestant} contestant */
export const pathOf = ({ file }) => fileURLToPath(new URL(`servers/${file}`, import.meta.url));
