// The command line of the official Inspector in front of the gateway. Some requests of version 1 by default, because each is a process.
// All of them with MOORING_TEST_FULL=1, and with Node.js 22.19 those of version 2, which also has 2026-07-28 and is large.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { ensureNpmPackage } from '../support/npm-package.ts';
import { cli, useSharedHome } from '../support/program.ts';
import { runtimeOf, startHttp, writeConfig } from './cli/support.ts';

const home = useSharedHome();
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const runsVersion2 = isFullRun && (major > 22 || (major === 22 && minor >= 19));

const version1 = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector-cli/build/cli.js');
const package2 = runsVersion2 ? ensureNpmPackage('@modelcontextprotocol/inspector', '2.12.0') : undefined;
const version2 = join(package2 ?? '', 'clients/launcher/build/index.js');

let url = '';
/** A configuration of the Inspector, whose only server is the gateway. */
let inspectorConfig = '';

beforeAll(async () => {
  const server = (script: string) => ({
    command: process.execPath,
    args: [join(import.meta.dirname, '../client/servers', script), 'stdio'],
  });
  // Every server is waited for, however slow this machine is.
  const settings = { firstListMs: 60_000 };
  const mcpServers = { old: server('sdk-old.mjs'), new: server('sdk-new.mjs') };
  ({ url } = await startHttp(home, ['--config', writeConfig(home, { mcpServers, gateway: settings })]));
  const one = writeConfig(home, { mcpServers: { new: server('sdk-new.mjs') }, gateway: settings }, 'one-server.json');
  const gateway = { type: 'stdio', command: process.execPath, args: [cli, 'gateway', '--config', one] };
  inspectorConfig = writeConfig(home, { mcpServers: { gateway } }, 'inspector.json');
});

/** The flags of a request, and what its result contains. */
type Request = readonly [flags: readonly string[], result: object];

/** `prefix`: of the names of the server. `greeting`: the URI of its resource. */
function requests(prefix: string, greeting: string): Request[] {
  const containing = (found: object) => expect.arrayContaining([expect.objectContaining(found)]);
  const [echo, greet] = [`${prefix}echo`, `${prefix}greet`];
  return [
    [['--method', 'tools/list'], { tools: containing({ name: echo }) }],
    [
      ['--method', 'tools/call', '--tool-name', echo, '--tool-arg', 'text=hi there'],
      { content: [{ type: 'text', text: 'hi there' }] },
    ],
    [['--method', 'resources/list'], { resources: containing({ uri: greeting }) }],
    [['--method', 'prompts/list'], { prompts: containing({ name: greet }) }],
    [['--method', 'resources/read', '--uri', greeting], { contents: [{ uri: greeting, text: 'hello' }] }],
    [
      ['--method', 'prompts/get', '--prompt-name', greet, '--prompt-args', 'name=Ada'],
      { messages: [{ content: { type: 'text', text: 'Greet Ada' } }] },
    ],
  ];
}

/** Each request is a process, and over stdio a gateway of its own. */
async function inspect(program: string, target: readonly string[], asked: readonly Request[]): Promise<void> {
  // Version 1 looks for its package.json from the current folder.
  const options = { program, cwd: dirname(program), env: runtimeOf(home) };
  const results = asked.map(async ([flags, result]) => {
    const { code, stdout, stderr } = await home.run(['--cli', ...target, ...flags], options);
    expect([flags, code, stderr]).toEqual([flags, 0, expect.anything()]);
    expect(JSON.parse(stdout)).toMatchObject(result);
  });
  await Promise.all(results);
}

/** The targets of both versions. */
const targets: [title: string, target: () => string[], asked: Request[]][] = [
  ['all servers over HTTP', () => [url, '--transport', 'http'], requests('new__', 'new+demo://greeting')],
  ['one server over HTTP', () => [`${url}/s/old`, '--transport', 'http'], requests('', 'demo://greeting')],
  ['over stdio', () => ['--config', inspectorConfig, '--server', 'gateway'], requests('new__', 'demo://greeting')],
];
const timeout = 120_000;

describe('version 1', () => {
  test.each(targets)('%s', { timeout }, async (title, target, asked) => {
    // Four requests, then one call each.
    const some = title === targets[0]?.[0] ? asked.slice(0, 4) : asked.slice(1, 2);
    await inspect(version1, target(), isFullRun ? asked : some);
  });
});

describe.runIf(package2 !== undefined).each(['legacy', 'modern'])('version 2 in the mode %s', (era) => {
  test.each(targets)('%s', { timeout }, async (_title, target, asked) => {
    await inspect(version2, [...target(), '--protocol-era', era, '--quiet'], asked);
  });
});
