// Bundles the page of the console: hashed names, each file also compressed, and a list of them for the server.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/**
 * Writes the page into a folder. Returns the source files it was made of.
 *
 * @param {string} root folder of the repository
 * @param {string} outdir folder of the page
 */
export async function buildConsole(root, outdir) {
  const source = resolve(root, 'src/console/page');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(source, 'main.tsx'), join(source, 'main.css'), join(source, 'sandbox/sandbox.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const files = new Map(outputFiles.map((file) => [basename(file.path), Buffer.from(file.contents)]));
  const named = (pattern) => [...files.keys()].find((name) => pattern.test(name));
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('href="main.css"', `href="${named(/^main-.*\.css$/)}"`)
    .replace('src="main.js"', `src="${named(/^main-.*\.js$/)}"`);
  files.set('index.html', Buffer.from(page));
  mkdirSync(outdir, { recursive: true });
  const manifest = {};
  for (const [name, contents] of files) {
    const brotli = brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length } });
    const gzip = gzipSync(contents, { level: 9 });
    writeFileSync(join(outdir, name), contents);
    writeFileSync(join(outdir, `${name}.br`), brotli);
    writeFileSync(join(outdir, `${name}.gz`), gzip);
    manifest[name] = {
      type: types[extname(name)],
      etag: `"${createHash('sha256').update(contents).digest('base64url').slice(0, 22)}"`,
      // The name of a file with a hash changes with its contents.
      immutable: name !== 'index.html',
      bytes: contents.length,
      gzipBytes: gzip.length,
      brotliBytes: brotli.length,
    };
  }
  writeFileSync(join(outdir, 'manifest.json'), `${JSON.stringify({ files: manifest }, undefined, 2)}\n`);
  return Object.keys(metafile.inputs).map((input) => resolve(root, input));
}
