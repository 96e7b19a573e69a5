// What is loaded before the first response. The bench measures the time; this test checks the loaded modules, which do not vary.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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

test('a start opens five files: the program, the compile cache, the start-up chunk, what it shares with the library, and the core', () => {
  const files = eager(cli);
  const imports = readFileSync(cli, 'utf8').matchAll(/\bimport\("(\.[^"]+)"\)/g);
  for (const [, path] of imports) eager(join(dirname(cli), path as string), files);
  expect(files.size).toBeLessThanOrEqual(5);
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

/** Starts the program and lets it end. Returns the names of the files with compiled code. */
function compiledBy(env: Readonly<Record<string, string | undefined>>, cache: string): string[] {
  const { stdout } = spawnSync(process.execPath, [cli, 'serve', 'clipboard'], {
    input: opening,
    encoding: 'utf8',
    env,
  });
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { protocolVersion: '2024-11-05' } });
  return existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }).sort() : [];
}

test('compiled code is stored for the next start, if no other user can write there', () => {
  const caches = join(home.folder, 'caches');
  const cache = join(caches, 'mooring');
  const env = { ...home.env, XDG_CACHE_HOME: caches, NODE_V8_COVERAGE: undefined, NODE_COMPILE_CACHE: undefined };
  const stores = 'enableCompileCache' in process.getBuiltinModule('node:module');
  expect(compiledBy({ ...env, NODE_DISABLE_COMPILE_CACHE: '1' }, cache).length).toBe(0);
  const stored = compiledBy(env, cache);
  expect(stored.length > 0).toBe(stores);
  expect(compiledBy(env, cache)).toEqual(stored);

  // No folder can be created there, and none is needed.
  for (const place of ['/proc/1', '/dev/null'])
    expect(compiledBy({ ...env, XDG_CACHE_HOME: place }, cache)).toEqual(stored);

  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  chmodSync(cache, 0o777);
  expect(compiledBy(env, cache)).toEqual([]);
});

test.runIf('enableCompileCache' in process.getBuiltinModule('node:module'))(
  'the first start of a build removes the compiled code of older ones, except the last two',
  () => {
    const caches = join(home.folder, 'caches');
    const cache = join(caches, 'mooring');
    const env = { ...home.env, XDG_CACHE_HOME: caches, NODE_V8_COVERAGE: undefined, NODE_COMPILE_CACHE: undefined };
    const older = ['v24.0.0-x64-1234-0', '0.1.0-a', '0.1.0-b', '0.2.0-beta.1-c'];
    for (const [age, name] of ['notes', ...older].entries()) {
      mkdirSync(join(cache, name, 'v24.0.0-x64-1234-0'), { recursive: true });
      utimesSync(join(cache, name), age, age);
    }
    compiledBy(env, cache);
    const first = readdirSync(cache);
    expect(first).toHaveLength(4);
    expect(first).toEqual(expect.arrayContaining(['notes', '0.1.0-b', '0.2.0-beta.1-c']));
    // Later starts look at nothing.
    mkdirSync(join(cache, '0.1.0-a'));
    compiledBy(env, cache);
    expect(readdirSync(cache)).toHaveLength(5);
  },
);
