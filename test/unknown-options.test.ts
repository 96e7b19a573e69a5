// Functions of all entry points reject an option that they do not have: a mistyped limit or credential would have no effect.

import { expect, test } from 'vitest';
import {
  createAuthorizer,
  createFileStore,
  createLoopbackRedirector,
  createStaticAuthorizer,
  signOut,
} from '../src/client/index.ts';
import { createConsole } from '../src/console/index.ts';
import { gatewayConfig, Pins } from '../src/gateway/index.ts';
import { connectInMemory, createLogger, createMemoryTaskStore, createServer } from '../src/index.ts';
import { clipboard } from '../src/packs/clipboard/index.ts';
import { dbus } from '../src/packs/dbus/index.ts';
import { files } from '../src/packs/files/index.ts';
import { meta } from '../src/packs/meta/index.ts';
import { createMemoryNotes, reference } from '../src/packs/reference/index.ts';
import { research } from '../src/packs/research/index.ts';
import { search } from '../src/packs/search/index.ts';
import { skills } from '../src/packs/skills/index.ts';
import { system } from '../src/packs/system/index.ts';
import { workers } from '../src/packs/workers/index.ts';
import {
  type CompiledPolicy,
  compilePolicy,
  createFetcher,
  createRedactor,
  createSandbox,
  enforcePolicy,
  labelUntrusted,
  limitConcurrency,
  loadPolicy,
  openAuditLog,
  openRoots,
  queryAudit,
  rateLimit,
  requireScopes,
  shedLoad,
  tailAudit,
} from '../src/security/index.ts';
import { checkRedis, openRedis } from '../src/stores/redis/index.ts';
import { openDataFolder } from '../src/stores/sqlite/index.ts';
import { clientTelemetry, telemetry } from '../src/telemetry/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: a program without types
type Untyped = any;

const server = createServer({ name: 'options', version: '1.0.0', logger: false });
const url = 'https://mcp.example.com/mcp';
const wrong: Untyped = { unknownOption: 1 };

const calls: Readonly<Record<string, () => unknown>> = {
  connectInMemory: () => connectInMemory(server, wrong),
  createLogger: () => createLogger(wrong),
  createMemoryTaskStore: () => createMemoryTaskStore(wrong),
  createAuthorizer: () => createAuthorizer({ server: url, ...wrong }),
  createStaticAuthorizer: () => createStaticAuthorizer({ server: url, token: 'x', ...wrong }),
  createFileStore: () => createFileStore('credentials.json', wrong),
  createLoopbackRedirector: () => createLoopbackRedirector(wrong),
  signOut: () => signOut({ server: url, ...wrong }),
  createConsole: () => createConsole(server, wrong),
  listen: () => createConsole(server).listen(wrong),
  gatewayConfig: () => gatewayConfig({ mcpServers: {} }, wrong),
  Pins: () => new Pins({ file: 'pins.json', ...wrong }),
  openDataFolder: () => openDataFolder('data', wrong),
  openRedis: () => openRedis({ url: 'redis://127.0.0.1:1', name: 'x', ...wrong }),
  checkRedis: () => checkRedis({ url: 'redis://127.0.0.1:1', ...wrong }),
  telemetry: () => telemetry(wrong),
  clientTelemetry: () => clientTelemetry(wrong),
  rateLimit: () => rateLimit([], wrong),
  limitConcurrency: () => limitConcurrency({ per: 'tool', max: 1 }, wrong),
  shedLoad: () => shedLoad(wrong),
  requireScopes: () => requireScopes([], wrong),
  loadPolicy: () => loadPolicy('policy.yaml', wrong),
  compilePolicy: () => compilePolicy({}, wrong),
  enforcePolicy: () => enforcePolicy({ access: {}, scopesOf: () => [] } as unknown as CompiledPolicy, wrong),
  openAuditLog: () => openAuditLog({ directory: 'audit', ...wrong }),
  tailAudit: () => tailAudit('audit', wrong).next(),
  'an audit filter': () => queryAudit('audit', wrong).next(),
  createRedactor: () => createRedactor(wrong),
  createSandbox: () => createSandbox({ programs: ['ls'], ...wrong }),
  createFetcher: () => createFetcher(wrong),
  labelUntrusted: () => labelUntrusted('text', 'source', wrong),
  clipboard: () => clipboard(wrong),
  dbus: () => dbus(wrong),
  files: () => files({ roots: ['/'], ...wrong }),
  meta: () => meta(wrong),
  reference: () => reference(wrong),
  createMemoryNotes: () => createMemoryNotes(wrong),
  research: () => research(wrong),
  search: () => search(wrong),
  skills: () => skills({ folders: ['/'], ...wrong }),
  system: () => system(wrong),
  workers: () => workers(wrong),
};

test.each(Object.entries(calls))('%s', async (callee, call) => {
  const message = `Unknown option unknownOption of ${callee}; use one of `;
  await expect((async () => call())()).rejects.toThrow(message);
});

test('openRedis needs a name, and a list of keys', async () => {
  const open = openRedis as Untyped;
  await expect(open({ url: 'redis://127.0.0.1:1' })).rejects.toThrow("name: 'library'");
  await expect(open({ url: 'redis://127.0.0.1:1', name: 'x', keys: 'key' })).rejects.toThrow('{ keys: [key] }');
});

test('a console needs a server', () => {
  expect(() => (createConsole as Untyped)()).toThrow('createConsole needs a server as its first argument');
});

test('packs that need folders say so', () => {
  const example = 'files() needs "roots", a list of folders: files({ roots: [\'/srv/docs\'] })';
  for (const options of [undefined, {}, { roots: [] }, { roots: '/srv/docs' }]) {
    expect(() => files(options as Untyped)).toThrow(example);
  }
  expect(() => (skills as Untyped)()).toThrow("skills({ folders: ['/srv/skills'] })");
  expect(() => openRoots('/srv/docs' as Untyped)).toThrow(
    "openRoots needs a list of folders: openRoots(['/srv/docs'])",
  );
});
