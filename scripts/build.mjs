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
import { bundledLicenses } from './licenses.mjs';

const { values } = parseArgs({ options: { outdir: { type: 'string' }, 'no-types': { type: 'boolean' } } });
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const outdir = resolve(values.outdir ?? resolve(root, 'dist'));

/** Packs people install on servers of their own. */
const packs = readdirSync(resolve(root, 'src/packs')).filter((name) =>
  existsSync(resolve(root, `src/packs/${name}/index.ts`)),
);

const entries = {
  index: 'src/index.ts',
  cli: 'src/cli/main.ts',
  'mcp-clipboardify': 'src/cli/mcp-clipboardify.ts',
  'mcp-secure-local': 'src/cli/mcp-secure-local.ts',
  client: 'src/client/index.ts',
  security: 'src/security/index.ts',
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

/**
 * What every server loads is one file: a start pays for each file it opens, so what belongs together stays together.
 * The rest is split where the sources import lazily.
 */
const core = staticallyImported(resolve(root, entries.index));
const isCore = (id) => core.has(id) || id.includes('rolldown/runtime');
/** What serves the first call, for the same reason: see `loadCallTool` in src/engine/features/index.ts. */
const calls = staticallyImported(
  resolve(root, 'src/engine/features/call-tool.ts'),
  staticallyImported(resolve(root, 'src/schema/judging.ts')),
);

/** A module and all that it imports, and they import, before they run. */
function staticallyImported(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, from] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)';/gm,
  )) {
    staticallyImported(resolve(dirname(file), from), found);
  }
  return found;
}

/**
 * What `mooring serve` loads besides, whatever the profile, for the same reason: settings and their flags, and the
 * default profile with what its packs install. Those are 20 KB that other profiles do not need, and cost them a tenth of
 * what it costs to import another file once the start has begun.
 */
function isStart(id) {
  const rooms = {
    cli: 'run|settings-flags|parse-args|commands/serve',
    app: 'usage-error|version|health|hide-paths|audit|make-folder|places|read-settings|serve|node-modules',
    'app/config': 'options|resolve|values|folders',
    'app/profiles': 'index|pack-options|data|local|clipboard|clipboard-trace',
    packs: 'clipboard/(index|backend)|reference/.+|meta/.+|search/index',
  };
  const path = id.slice(root.length);
  return Object.entries(rooms).some(([room, files]) => new RegExp(`^/src/${room}/(${files})\\.ts$`).test(path));
}

/** The character as it may stand in a string, a template or a regular expression: nothing else of ours has such. */
const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** Where such an escape would say something else. */
const inescapable = /(?<!\\)(?:\\\\)*\\[^\0-\x7f]|\.raw`[^`]*[^\0-\x7f]/;

// Written beside and swapped in whole: whoever runs the old build meanwhile keeps it, and a failed one changes nothing.
mkdirSync(dirname(outdir), { recursive: true });
const fresh = mkdtempSync(`${outdir}-`);
try {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(resolve(root, file)))),
    platform: 'node',
    // The core stands in index.js itself, beside short names by which our other files reach its insides: a door of its
    // own before it would cost every start a millisecond.
    preserveEntrySignatures: 'allow-extension',
    external: isExternal,
    transform: { target: 'node20', define: { __VERSION__: JSON.stringify(manifest.version) } },
  });
  const { output } = await bundle.write({
    dir: fresh,
    format: 'esm',
    // Short names, whole lines: Node shows the line an uncaught error was thrown on, which must not be the whole file.
    // The core then has more than 128 KB of text, which V8 keeps apart, and a start is over before the first collection.
    minify: {
      compress: true,
      mangle: { keepNames: { class: true, function: true } },
      codegen: { removeWhitespace: false },
    },
    comments: false,
    sourcemap: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {
      groups: [
        { name: 'core', test: isCore },
        { name: 'calls', test: (/** @type {string} */ id) => calls.has(id) && !isCore(id) },
        { name: 'start', test: isStart },
      ],
    },
  });
  // Text of one byte per character is read and compiled faster, and a single dash would make it two. Lines stay where
  // they are, so that source maps stay right but for columns behind such a character.
  for (const file of readdirSync(fresh, { recursive: true }).filter((name) => name.endsWith('.js'))) {
    const path = resolve(fresh, file);
    const text = readFileSync(path, 'utf8');
    if (inescapable.test(text)) throw new Error(`${file}: a character behind a backslash or in raw text must be ASCII`);
    writeFileSync(path, text.replace(/[^\0-\x7f]/g, escaped));
  }
  writeFileSync(resolve(fresh, 'third-party-licenses.txt'), bundledLicenses(root, output));
  // The schemas of the files people write, for their editors.
  for (const [file, command] of Object.entries({ mooring: 'config', policy: 'policy' })) {
    const schema = execFileSync(process.execPath, [resolve(fresh, 'cli.js'), command, 'schema']);
    writeFileSync(resolve(fresh, `${file}.schema.json`), schema);
  }
  if (values['no-types'] !== true) {
    const tsc = resolve(root, 'node_modules/typescript/bin/tsc');
    const args = ['-p', resolve(root, 'tsconfig.build.json'), '--outDir', fresh];
    execFileSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
  }
  // A temporary folder is for its maker alone; a build is for whoever may read the rest of the package.
  chmodSync(fresh, 0o755);
  const old = `${outdir}-old-${process.pid}`;
  if (existsSync(outdir)) renameSync(outdir, old);
  renameSync(fresh, outdir);
  rmSync(old, { recursive: true, force: true });
} catch (error) {
  rmSync(fresh, { recursive: true, force: true });
  // What tsc had to say has been said, and what rolldown has to say is its message; our stack adds nothing.
  if (error?.errors !== undefined) console.error(error.message);
  else if (error?.status === undefined) throw error;
  process.exitCode = 1;
}
