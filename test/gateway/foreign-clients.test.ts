// Clients of others in front of the gateway, with servers of others behind it, over HTTP and stdio: lists, calls, elicitation,
// sampling and tasks. Both lines of the SDK over HTTP by default; the rest with MOORING_TEST_FULL=1.

import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listening, packaged, referenceServer, startListening } from '../client/third-party.ts';
import { connectNewLine } from '../peers/new-line.ts';
import { connectOldLine } from '../peers/old-line.ts';
import type { Peer } from '../peers/peer.ts';
import { isFullRun } from '../support/full.ts';
import { cli, useSharedHome } from '../support/program.ts';
import { ensurePython } from '../support/python.ts';
import { runtimeOf, startHttp, writeConfig } from './cli/support.ts';

const home = useSharedHome();
const python = isFullRun ? ensurePython('mcp>=2,<3') : undefined;
const here = (path: string): string => join(import.meta.dirname, path);

let far: Listening;
let url = '';
let config = '';

beforeAll(async () => {
  far = await startListening([here('../client/servers/sdk-old.mjs'), 'http']);
  writeFileSync(home.file('note.txt'), 'written down');
  const node = (...args: string[]) => ({ command: process.execPath, args });
  // Every server is waited for, however slow this machine is.
  config = writeConfig(home, {
    mcpServers: {
      everything: node(referenceServer, 'stdio'),
      files: node(packaged('server-filesystem'), home.folder),
      memory: { ...node(packaged('server-memory')), env: { MEMORY_FILE_PATH: home.file('memory.jsonl') } },
      old: node(here('../client/servers/sdk-old.mjs'), 'stdio'),
      new: node(here('../client/servers/sdk-new.mjs'), 'stdio'),
      fast: node(here('../client/servers/fastmcp.mjs'), 'stdio'),
      far: { url: far.url },
      ...(python === undefined
        ? {}
        : {
            snake: {
              command: python.command,
              args: [here('servers/python.py')],
              env: python.env,
              mooring: { revision: 'handshake' },
            },
          }),
    },
    gateway: { firstListMs: 60_000 },
  });
  ({ url } = await startHttp(home, ['--config', config]));
});
afterAll(() => far?.close());

const gatewayArgs = (): string[] => [cli, 'gateway', '--config', config];
const environment = (): Record<string, string> => ({ ...home.env, ...runtimeOf(home) });
const program = () => ({ command: process.execPath, args: gatewayArgs(), env: environment() });

const tools = [
  'everything__echo',
  'files__read_text_file',
  'memory__create_entities',
  ...['old', 'new', 'fast', 'far'].map((slug) => `${slug}__echo`),
];
const asking = ['old', 'new', 'far'] as const;

/** Calls and the texts of their results. */
const calls = (): readonly (readonly [name: string, args: Record<string, unknown>, text: RegExp])[] => [
  ...(['old', 'new', 'fast', 'far'] as const).map((slug) => [`${slug}__echo`, { text: 'hi' }, /^hi$/] as const),
  ['everything__echo', { message: 'hi' }, /^Echo: hi$/],
  ['files__read_text_file', { path: home.file('note.txt') }, /^written down$/],
  ['memory__create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: [] }] }, /Ada|\[\]/],
  ['memory__read_graph', {}, /Ada/],
  ...asking.map((slug) => [`${slug}__ask`, {}, /^Hello, Ada!$/] as const),
  ...asking.map((slug) => [`${slug}__think`, {}, /^Paris$/] as const),
  ...(python === undefined
    ? []
    : [['snake__echo', { text: 'hi' }, /^hi$/] as const, ['snake__ask', {}, /Ada/] as const]),
];

const overHttp: Record<string, () => Promise<Peer>> = {
  'the old line of the SDK over HTTP': () =>
    connectOldLine(new OldHttp(new URL(url)) as Parameters<typeof connectOldLine>[0], '2025-11-25'),
  'the new line of the SDK over HTTP': () => connectNewLine(new NewHttp(new URL(url)), { mode: 'auto' }),
};
/** Each of these starts a gateway with all its servers. */
const overStdio: Record<string, () => Promise<Peer>> = {
  'the old line of the SDK over stdio': () => connectOldLine(new OldStdio(program()), '2025-11-25'),
  'the new line of the SDK over stdio': () => connectNewLine(new NewStdio(program()), { mode: 'auto' }),
};
const clients = { ...overHttp, ...(isFullRun ? overStdio : {}) };

describe.each(Object.entries(clients))('%s', (_title, open) => {
  test('lists, calls, elicitation and sampling', { timeout: 120_000 }, async () => {
    const peer = await open();
    try {
      // A server that takes too long to start is started again.
      const listed = async () => (await peer.listTools()).map(({ name }) => name);
      await expect.poll(listed, { timeout: 60_000 }).toEqual(expect.arrayContaining(tools));
      expect((await peer.listPrompts()).map(({ name }) => name)).toEqual(expect.arrayContaining(['old__greet']));
      const uris = (await peer.listResources()).map(({ uri }) => uri);
      expect(uris).toEqual(expect.arrayContaining(['demo://greeting', 'new+demo://greeting']));
      expect((await peer.readResource('new+demo://greeting'))[0]?.text).toBe('hello');
      for (const [name, args, text] of calls()) {
        const { content } = await peer.callTool(name, args);
        expect([name, content.map((block) => block.text ?? '').join('')]).toEqual([name, expect.stringMatching(text)]);
      }
    } finally {
      await peer.close();
    }
  });
});

test.runIf(isFullRun)(
  'a task of the reference server, driven by the old line of the SDK',
  { timeout: 120_000 },
  async () => {
    const client = new OldClient({ name: 'driver', version: '1' }, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { interpretation: 'snake' } }));
    await client.connect(new OldHttp(new URL(url)) as Parameters<typeof client.connect>[0]);
    await client.listTools();
    const seen: string[] = [];
    const name = 'everything__simulate-research-query';
    const call = { name, arguments: { topic: 'python', ambiguous: true } };
    for await (const message of client.experimental.tasks.callToolStream(call)) {
      seen.push(message.type);
      if (message.type === 'result') {
        expect(JSON.stringify(message.result.content)).toContain('Research Report: python (snake)');
      }
    }
    expect(seen[0]).toBe('taskCreated');
    expect(seen.at(-1)).toBe('result');
    await client.close();
  },
);

/** Runs a program with this input; resolves with what it printed. */
function run(command: string, args: string[], input: string, options: SpawnOptionsWithoutStdio): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, options);
    let [printed, said] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(`exit code ${code}:\n${said}`))));
    child.stdin.end(input);
  });
}

describe.runIf(isFullRun && python !== undefined)('the official SDK for Python', () => {
  test.each([
    ['legacy', 'HTTP', '2025-11-25'],
    ['auto', 'HTTP', '2026-07-28'],
    ['legacy', 'stdio', '2025-11-25'],
    ['auto', 'stdio', '2026-07-28'],
  ])(
    'lists, calls, elicitation and sampling in mode %s over %s',
    { timeout: 240_000 },
    async (mode, transport, revision) => {
      const target = transport === 'HTTP' ? [url] : [process.execPath, ...gatewayArgs()];
      const env = { ...environment(), ...python?.env };
      const wanted = JSON.stringify(calls().map(([name, args]) => [name, args]));
      const output = await run(python?.command ?? '', [here('clients/python.py'), mode, ...target], wanted, { env });
      const seen = JSON.parse(output) as { revision: string; tools: string[]; results: string[] };
      expect(seen.revision).toBe(revision);
      expect(seen.tools).toEqual(expect.arrayContaining(tools));
      for (const [i, [name, , text]] of calls().entries()) {
        expect([name, seen.results[i]]).toEqual([name, expect.stringMatching(text)]);
      }
    },
  );
});
