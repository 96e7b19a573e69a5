// Bundles the library and the command line into dist/, and writes the type declarations beside them.
// Everything lazy stays a chunk of its own, so that a start loads only what it uses.
//
//   node scripts/build.mjs [--outdir DIR] [--no-types]
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { buildConsole } from './build-console.mjs';
import { bundledLicenses } from './licenses.mjs';

const { values } = parseArgs({ options: { outdir: { type: 'string' }, 'no-types': { type: 'boolean' } } });
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const outdir = resolve(values.outdir ?? resolve(root, 'dist'));

/** The packs, each an entry point of its own. */
const packs = readdirSync(resolve(root, 'src/packs')).filter((name) =>
  existsSync(resolve(root, `src/packs/${name}/index.ts`)),
);

const entries = {
  index: 'src/index.ts',
  web: 'src/web.ts',
  cli: 'src/cli/main.ts',
  'mcp-clipboardify': 'src/cli/mcp-clipboardify.ts',
  'mcp-secure-local': 'src/cli/mcp-secure-local.ts',
  // Started in processes and threads of their own, by path.
  'dev/run-file': 'src/app/dev/run-file.ts',
  'dev/loader-hooks': 'src/app/dev/loader-hooks.ts',
  client: 'src/client/index.ts',
  console: 'src/console/index.ts',
  gateway: 'src/gateway/index.ts',
  security: 'src/security/index.ts',
  telemetry: 'src/telemetry/index.ts',
  'stores/redis': 'src/stores/redis/index.ts',
  'stores/sqlite': 'src/stores/sqlite/index.ts',
  ...Object.fromEntries(packs.map((name) => [`packs/${name}`, `src/packs/${name}/index.ts`])),
};

const manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));

/**
 * Packages that are dependencies stay imports. Small ones that only rare code needs are devDependencies and become part
 * of the chunk that uses them: an installation has fewer packages, and the lock file of this repository decides their
 * version.
 */
const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest;
const installed = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
const isExternal = (id) => isBuiltin(id) || installed.some((name) => id === name || id.startsWith(`${name}/`));

/** A module and everything it imports statically, directly or through other modules. */
function staticImports(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, from] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)';/gm,
  )) {
    staticImports(resolve(dirname(file), from), found);
  }
  return found;
}

/**
 * A start pays for every file it opens, so modules that are loaded together become one file. Each group is some entry files
 * with their static imports; a module belongs to the first group that has it. The rest is split where the sources import
 * dynamically.
 */
const groups = [
  // What the program loads before everything else, and nothing of it is compiled yet.
  { name: 'compile-cache', entries: ['src/app/compile-cache.ts'] },
  // What every server loads. Not src/transports/http.ts: a bundle of mooring/web would have the HTTP server of Node.js in it,
  // which bundlers for other runtimes reject. The last six are small: without them
  // here, the gateway would load all of `start` and `files`, and a bundle of mooring/web would have them in it.
  {
    name: 'core',
    entries: [
      'src/web.ts',
      'src/transports/stdio.ts',
      'src/logging/logger.ts',
      'src/protocol/callers/caller-turns.ts',
      'src/common/builtins.ts',
      'src/common/glob.ts',
      'src/common/slot-set.ts',
      'src/engine/catalog/rank-tools.ts',
      'src/security/auth/token-issuer.ts',
    ],
  },
  // What the first call of a tool loads: the feature, and the validator of its arguments.
  { name: 'calls', entries: ['src/engine/features/call-tool.ts', 'src/schema/json-schema-validator.ts'] },
  // What the entry points of the library share with the program, and the packs that the program always loads. Without this group
  // it would be in `start` and others, and a bundle of `mooring/client` would have the whole program in it.
  {
    name: 'library-base',
    entries: [
      'src/common/version.ts',
      'src/common/decode-text.ts',
      'src/common/errno-text.ts',
      'src/common/file-modes.ts',
      'src/common/hide-paths.ts',
      'src/common/hygiene.ts',
      'src/protocol/oauth-params.ts',
      'src/security/files/own-files.ts',
      'src/transports/lock-file.ts',
      ...['clipboard', 'meta', 'reference', 'search'].map((pack) => `src/packs/${pack}/index.ts`),
    ],
  },
  // What `mooring serve` loads: settings, flags, and the profiles that src/app/profiles/index.ts imports statically. The last three
  // are small: without them here, a client that connects to a shared gateway would load all of `gateway-config`, and `files`
  // would load `start`.
  {
    name: 'start',
    entries: [
      'src/cli/run.ts',
      'src/cli/gateway/gateway-args.ts',
      'src/app/gateway/outer-gateways.ts',
      'src/app/state/own-files.ts',
    ],
  },
  // What a client loads to connect to a shared gateway.
  { name: 'connect', entries: ['src/cli/commands/connect.ts', 'src/app/gateway/shared/connect-shared.ts'] },
  // What the next group shares with `mooring/gateway`.
  { name: 'gateway-schema', entries: ['src/gateway/config/schema.ts', 'src/gateway/config/server-entry.ts'] },
  // What reads configuration files: ours, and those of clients.
  {
    name: 'config-files',
    entries: [
      'src/app/clients/configured.ts',
      'src/app/clients/launch.ts',
      'src/app/config/expand.ts',
      'src/app/config/issues.ts',
      'src/app/config/ownership.ts',
    ],
  },
  // What the client shares with gateways, the audit log and commands.
  {
    name: 'client-base',
    entries: [
      'src/client/errors.ts',
      'src/client/calls/input-required.ts',
      'src/client/calls/outgoing-call.ts',
      'src/protocol/revisions/client-revisions.ts',
      'src/common/abort-signals.ts',
      'src/common/hygiene.ts',
      'src/app/untrusted-text.ts',
    ],
  },
  { name: 'audit', entries: ['src/security/audit/index.ts'] },
  // What a gateway loads for its configuration and its stored lists, and the command. Two files, because each import between
  // files costs a start as much as 2 KB of code, and `mooring/gateway` is without the command. Not the gateway itself: a group
  // has everything that its entries import, which is the client, too.
  {
    name: 'gateway-config',
    entries: [
      'src/gateway/config/decode-gateway.ts',
      'src/gateway/names/index.ts',
      'src/gateway/pins/index.ts',
      'src/gateway/catalog-cache.ts',
      'src/gateway/clean-lists.ts',
      'src/gateway/contract.ts',
      'src/gateway/upstreams/isolation.ts',
    ],
  },
  {
    name: 'gateway-command',
    entries: [
      'src/app/gateway/entries/ask-input.ts',
      'src/app/gateway/gateway-settings.ts',
      'src/app/gateway/known-tools.ts',
      'src/app/gateway/entries/stored-values.ts',
      'src/cli/commands/gateway.ts',
    ],
  },
  // What a start with folders loads.
  { name: 'files', entries: ['src/packs/files/index.ts', 'src/packs/system/index.ts'] },
].map(({ name, entries }) => {
  const modules = new Set();
  for (const entry of entries) staticImports(resolve(root, entry), modules);
  return { name, test: (/** @type {string} */ id) => modules.has(id) };
});

/** The escape of a character in a string, a template or a regular expression; such characters are nowhere else. */
const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** Text in which such an escape would have another meaning. */
const inescapable = /(?<!\\)(?:\\\\)*\\[^\0-\x7f]|\.raw`[^`]*[^\0-\x7f]/;

/**
 * For a dynamic import of a module that is in a group, rolldown writes a file that only exports again what another one
 * exports. Each costs a start as much as 20 KB of code, so the import names the other file instead.
 */
function importDirectly(/** @type {string} */ folder) {
  const chunks = resolve(folder, 'chunks');
  /** @type {Map<string, (prefix: string) => string>} */
  const imports = new Map();
  for (const name of readdirSync(chunks).filter((file) => file.endsWith('.js'))) {
    const again = /^export \{ ([^{}]+) \} from "\.\/([^"]+)";\s*$/.exec(readFileSync(resolve(chunks, name), 'utf8'));
    if (again === null) continue;
    const [, names, file] = again;
    const members = names.split(', ').map((each) => /^(\S+)(?: as (\S+))?$/.exec(each));
    const object = members.map(([, inner, outer = inner]) => `${outer}: e.${inner}`).join(', ');
    imports.set(name, (prefix) => `import("${prefix}${file}").then((e) => ({ ${object} }))`);
  }
  const dynamicImport = /\bimport\("((?:\.\/|\.\.\/)*(?:chunks\/)?)([^"/]+)"\)/g;
  for (const file of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.js'))) {
    const path = resolve(folder, file);
    const text = readFileSync(path, 'utf8');
    const direct = text.replace(dynamicImport, (whole, prefix, name) => imports.get(name)?.(prefix) ?? whole);
    if (direct !== text) writeFileSync(path, direct);
  }
  for (const name of imports.keys()) rmSync(resolve(chunks, name));
}

// Written to a new folder that replaces the old one at the end: a running program keeps its files, and a build that fails
// changes nothing.
mkdirSync(dirname(outdir), { recursive: true });
const fresh = mkdtempSync(`${outdir}-`);
try {
  /** Dynamic imports that load nothing later, because a static import of the same group has the module already. @type {string[]} */
  const ineffective = [];
  const bundle = await rolldown({
    cwd: root,
    onLog(level, log, handle) {
      if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') ineffective.push(log.message);
      else handle(level, log);
    },
    input: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(resolve(root, file)))),
    platform: 'node',
    // Entry points export what their sources export and nothing else.
    preserveEntrySignatures: 'strict',
    external: isExternal,
    transform: { target: 'node20', define: { __VERSION__: JSON.stringify(manifest.version) } },
  });
  const { output } = await bundle.write({
    dir: fresh,
    format: 'esm',
    // Short names, but whole lines: for an uncaught error Node prints its source line, which must not be the whole file.
    minify: {
      compress: true,
      mangle: { keepNames: { class: true, function: true } },
      codegen: { removeWhitespace: false },
    },
    comments: false,
    sourcemap: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups },
  });
  if (ineffective.length > 0) throw new Error(ineffective.join('\n'));
  // V8 loads text of one byte per character faster, and a single other character makes it two bytes. Line numbers stay the
  // same, so source maps stay correct, except for columns after an escape.
  for (const file of readdirSync(fresh, { recursive: true }).filter((name) => name.endsWith('.js'))) {
    const path = resolve(fresh, file);
    const text = readFileSync(path, 'utf8');
    if (inescapable.test(text)) throw new Error(`${file}: a character after a backslash or in raw text must be ASCII`);
    writeFileSync(path, text.replace(/[^\0-\x7f]/g, escaped));
  }
  importDirectly(fresh);
  const page = await buildConsole(root, resolve(fresh, 'console'));
  writeFileSync(resolve(fresh, 'third-party-licenses.txt'), bundledLicenses(root, [...output, { moduleIds: page }]));
  // The schemas of configuration files, for editors.
  for (const [file, command] of Object.entries({ mooring: 'config', policy: 'policy' })) {
    const schema = execFileSync(process.execPath, [resolve(fresh, 'cli.js'), command, 'schema']);
    writeFileSync(resolve(fresh, `${file}.schema.json`), schema);
  }
  if (values['no-types'] !== true) {
    const tsc = resolve(root, 'node_modules/typescript/bin/tsc');
    const args = ['-p', resolve(root, 'tsconfig.build.json'), '--outDir', fresh];
    execFileSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
  }
  // mkdtemp creates a folder that only its owner can read.
  chmodSync(fresh, 0o755);
  const old = `${outdir}-old-${process.pid}`;
  if (existsSync(outdir)) renameSync(outdir, old);
  renameSync(fresh, outdir);
  rmSync(old, { recursive: true, force: true });
} catch (error) {
  rmSync(fresh, { recursive: true, force: true });
  // tsc has printed its errors already, and the message of rolldown is enough; our stack trace adds nothing.
  if (error?.errors !== undefined) console.error(error.message);
  else if (error?.status === undefined) throw error;
  process.exitCode = 1;
}
