// Programs that esbuild makes of what they import of the package. As in a user's project, the dependencies of the package are
// installed, and none of its optional peers.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type Format } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unpackPackage } from '../support/packed-package.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'mooring-bundling-'));
/** Where no package is installed. */
const elsewhere = mkdtempSync(join(tmpdir(), 'mooring-bundled-'));

beforeAll(() => unpackPackage(folder, ['ajv', 'jose', 'oauth4webapi', 'ws', 'yaml', '@photostructure']));
afterAll(() => {
  for (const each of [folder, elsewhere]) rmSync(each, { recursive: true, force: true });
});

const packs = readdirSync(join(root, 'src/packs')).filter((name) =>
  existsSync(join(root, 'src/packs', name, 'index.ts')),
);
// Not mooring/telemetry, which needs its peer.
const entryPoints = ['web', 'client', 'console', 'gateway', 'security', 'stores/redis', 'stores/sqlite'];

async function bundle(program: string, format: Format, outfile: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: folder,
    stdin: { contents: program, resolveDir: folder },
    outfile: join(elsewhere, outfile),
    bundle: true,
    platform: 'node',
    format,
    // As the documentation says: packages in CommonJS that are part of an ES module call `require`.
    banner:
      format === 'esm'
        ? { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);` }
        : {},
    loader: { '.node': 'empty' },
    metafile: true,
    logLevel: 'silent',
  });
  return Object.keys(metafile?.inputs ?? {});
}

test.each(['mooring', ...[...entryPoints, ...packs.map((name) => `packs/${name}`)].map((path) => `mooring/${path}`)])(
  '%s can be bundled without optional packages, and without the program',
  async (name) => {
    const inputs = await bundle(`export * from '${name}'`, 'esm', 'entry.mjs');
    const ours = inputs.filter((file) => file.includes('node_modules/mooring/dist/'));
    expect(ours.length).toBeGreaterThan(0);
    // Files that only export again what others have are without a map.
    const maps = ours.map((file) => join(folder, `${file}.map`)).filter((map) => existsSync(map));
    const sources: string[] = maps.flatMap((map) => JSON.parse(readFileSync(map, 'utf8')).sources);
    expect(sources.filter((source) => source.includes('/src/'))).not.toEqual([]);
    expect(sources.filter((source) => source.includes('/src/cli/'))).toEqual([]);
  },
);

const program = `
  import { createServer, serveHttp } from 'mooring';
  import { connect } from 'mooring/client';
  import { rateLimit } from 'mooring/security';

  async function main() {
    const server = createServer({ name: 'bundled', version: '1.0.0' });
    server.around(rateLimit([{ per: 'principal', requests: 100, windowMs: 60_000 }]));
    server.tool('greet', {
      input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      run: ({ name }) => 'Hello, ' + name,
    });
    const { url, close } = await serveHttp(server, { port: 0 });
    for (const target of [url, url.replace('http:', 'ws:')]) {
      const client = await connect(target);
      const { content } = await client.callTool('greet', { name: client.transport });
      console.log(content[0].text);
      await client.close();
    }
    await close();
  }
  main();
`;

test.each([
  ['esm', 'program.mjs'],
  ['cjs', 'program.cjs'],
] as const)('a bundle as one file (%s) serves and calls without installed packages', async (format, outfile) => {
  await bundle(program, format, outfile);
  const text = execFileSync(process.execPath, [outfile], { cwd: elsewhere, encoding: 'utf8' });
  expect(text).toBe('Hello, http\nHello, websocket\n');
});
