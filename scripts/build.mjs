// Bundles the library and the command line into dist/, and writes the type declarations beside them.
// Everything lazy stays a chunk of its own, so that a start loads only what it uses.
//
//   node scripts/build.mjs [--outdir DIR] [--no-types]
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

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
 * What every server loads is one file: a start pays for each file it opens, so what belongs together stays together.
 * The rest is split where the sources import lazily.
 */
function isCore(id) {
  const path = id.slice(root.length);
  if (id.includes('rolldown/runtime')) return true;
  const lazy = /\/(codegen[\w-]*|ajv|node-sealer|client-[\w-]+)\.ts$|\/transports\/(http\/|websocket)/;
  return /^\/src\/(protocol|schema|engine|transports)\//.test(path) && !lazy.test(path);
}

/** What `mooring serve` loads besides, whatever the profile: settings and their flags, for the same reason. */
function isStart(id) {
  return /^\/src\/(cli\/(run|settings-flags|usage|commands\/serve)|app\/(mistake|version|health|guard|serve)|app\/config\/(options|settle|values|folders)|app\/profiles\/(index|pack-options))\.ts$/.test(
    id.slice(root.length),
  );
}

/** What a profile installs before its first answer, in one file; what its tools need when they are called stays apart. */
const profileChunks = {
  clipboard: /^\/src\/(app\/profiles\/clipboard(-trace)?|packs\/clipboard\/(index|backend))\.ts$/,
  reference: /^\/src\/(app\/profiles\/(reference|data)|packs\/reference\/[\w-]+)\.ts$/,
  local: /^\/src\/(app\/profiles\/local|packs\/(meta\/[\w-]+|search\/index))\.ts$/,
};

// Written beside and swapped in whole: whoever runs the old build meanwhile keeps it, and a failed one changes nothing.
mkdirSync(dirname(outdir), { recursive: true });
const fresh = mkdtempSync(`${outdir}-`);
try {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(resolve(root, file)))),
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
    transform: { target: 'node20', define: { __VERSION__: JSON.stringify(manifest.version) } },
  });
  await bundle.write({
    dir: fresh,
    format: 'esm',
    minify: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {
      groups: [
        { name: 'core', test: isCore },
        { name: 'start', test: isStart },
        ...Object.entries(profileChunks).map(([name, test]) => ({
          name,
          test: (/** @type {string} */ id) => test.test(id.slice(root.length)),
        })),
      ],
    },
  });
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
