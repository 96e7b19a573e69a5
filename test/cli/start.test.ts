// What is loaded before the first response. The bench measures the time; this test checks the loaded modules, which do not vary.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { cli, useHome } from '../support/program.ts';

const home = useHome();
const opening = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 't', version: '1' } },
})}\n`;

/** At the first write to stdout, prints to stderr which Node modules and which files are loaded. */
const witness = `
  const { registerHooks } = process.getBuiltinModule('node:module');
  const files = [];
  registerHooks?.({ load(url, context, next) { if (url.startsWith('file:')) files.push(url); return next(url, context); } });
  const write = process.stdout.write;
  process.stdout.write = function (...args) {
    process.stdout.write = write;
    process.stderr.write('loaded ' + JSON.stringify({ builtIn: process.moduleLoadList, files }) + '\\n');
    return write.apply(this, args);
  };`;

function loadedBy(...command: readonly string[]): {
  readonly builtIn: readonly string[];
  readonly files: readonly string[];
} {
  const preload = `data:text/javascript,${encodeURIComponent(witness)}`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', preload, cli, ...command], {
    input: opening,
    encoding: 'utf8',
    env: home.env,
    cwd: home.folder,
  });
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { protocolVersion: '2024-11-05' } });
  return JSON.parse(/^loaded (.*)$/m.exec(stderr)?.[1] as string);
}

/** What Node loads for any program that imports `node:fs`: newer versions load more. */
function loadedByNode(): ReadonlySet<string> {
  const program = `import 'node:fs'; process.stdout.write(JSON.stringify(process.moduleLoadList))`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  return new Set(JSON.parse(stdout) as string[]);
}

/** The file and its static imports. */
function eager(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const statics = readFileSync(file, 'utf8').matchAll(/\b(?:import|from)\s*["'](\.[^"']+)["']/g);
  for (const [, path] of statics) eager(join(dirname(file), path as string), seen);
  return seen;
}

test.each(['clipboard', 'local'])('%s responds before other Node modules are loaded', (profile) => {
  const byNode = loadedByNode();
  const loaded = new Set(loadedBy('serve', profile).builtIn.filter((name) => !byNode.has(name)));
  for (const name of [
    ...['child_process', 'crypto', 'dns', 'http', 'https', 'os', 'perf_hooks', 'readline', 'sqlite'],
    ...['tls', 'zlib'],
  ]) {
    expect(loaded.has(`NativeModule ${name}`), name).toBe(false);
  }
});

test('a start opens three files: the program, the start-up chunk, and the core', () => {
  const files = eager(cli);
  expect(files.size).toBeLessThanOrEqual(3);
  // Where Node reports it, no other file was opened before the first response.
  const opened = loadedBy('serve', 'clipboard').files;
  const known = new Set([...files].map((file) => pathToFileURL(file).href));
  expect(opened.filter((url) => !known.has(url))).toEqual([]);
});

test('a gateway responds before it loads the client, and what the client needs of Node', () => {
  const config = join(home.folder, 'gateway.json');
  const servers = {
    files: { command: process.execPath, args: ['server.mjs'] },
    remote: { url: 'https://mcp.example/mcp' },
  };
  writeFileSync(config, JSON.stringify({ mcpServers: servers }), { mode: 0o600 });
  const byNode = loadedByNode();
  const loaded = new Set(loadedBy('gateway', '--config', config).builtIn.filter((name) => !byNode.has(name)));
  for (const name of ['child_process', 'cluster', 'http', 'https', 'readline', 'sqlite', 'tls', 'zlib']) {
    expect(loaded.has(`NativeModule ${name}`), name).toBe(false);
  }
});
