// Builds mooring-<version>.mcpb, the bundle that desktop clients install with a click: a zip with a manifest and the
// program, dependencies included. The same sources give the same bytes.
//
//   node scripts/mcpb.mjs [--outdir DIR]
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { bundledLicenses } from './licenses.mjs';
import { zip } from './zip.mjs';

const { values } = parseArgs({ options: { outdir: { type: 'string' } } });
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const outdir = resolve(values.outdir ?? join(root, 'release'));
const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const manifest = {
  manifest_version: '0.3',
  name: 'mooring',
  display_name: 'Mooring',
  version,
  description: 'Clipboard, notes, time, arithmetic, web search and files of this machine',
  long_description: `${description}\n\nThis bundle runs the profile \`local\`: the clipboard, notes that are kept, time, arithmetic, web search without a key, and files of the folders you choose. Commands and workers stay off.`,
  author: { name: 'The Mooring authors' },
  license,
  keywords: ['clipboard', 'notes', 'search', 'files', 'mcp'],
  server: {
    type: 'node',
    entry_point: 'server/cli.js',
    mcp_config: {
      command: 'node',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the bundle format
      args: ['${__dirname}/server/cli.js', 'serve', 'local', '--', '${user_config.folders}'],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the bundle format
      env: { MCP_LOG_LEVEL: '${user_config.log_level}' },
    },
  },
  user_config: {
    folders: {
      type: 'directory',
      title: 'Folders',
      description: 'Folders whose files are offered as resources; none by default',
      multiple: true,
      required: false,
      default: [],
    },
    log_level: {
      type: 'string',
      title: 'Log level',
      description: 'debug, info, notice, warning, error or off',
      required: false,
      default: 'info',
    },
  },
  tools_generated: true,
  prompts_generated: true,
  compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: '>=22.13.0' } },
};

const bundle = await rolldown({
  cwd: root,
  input: { cli: 'src/cli/main.ts' },
  platform: 'node',
  // Optional, with a binary per platform; the runtimes this bundle asks for have SQLite built in. Redis is for several machines.
  external: ['@photostructure/sqlite', '@redis/client'],
  transform: { target: 'node20', define: { __VERSION__: JSON.stringify(version) } },
  logLevel: 'warn',
});
const { output } = await bundle.generate({
  format: 'esm',
  minify: true,
  chunkFileNames: 'chunks/[name]-[hash].js',
});

const files = { 'manifest.json': `${JSON.stringify(manifest, null, 2)}\n` };
for (const name of ['README.md', 'LICENSE']) files[name] = readFileSync(join(root, name));
files['third-party-licenses.txt'] = bundledLicenses(root, output);
files['server/package.json'] = '{ "type": "module" }\n';
for (const chunk of output) files[`server/${chunk.fileName}`] = chunk.type === 'chunk' ? chunk.code : chunk.source;

const archive = zip(files);
mkdirSync(outdir, { recursive: true });
const file = join(outdir, `mooring-${version}.mcpb`);
writeFileSync(file, archive);
const hash = createHash('sha256').update(archive).digest('hex');
console.log(`${file}\n${archive.length} bytes, ${Object.keys(files).length} files\nsha256 ${hash}`);
