// Writes docs/llms.txt, a list of all pages for language models (llmstxt.org), and docs/llms-full.txt, the guides and
// reference pages in one file. The API reference, the figures and the pages for contributors are only in the list.
//
//   node scripts/docs-llms.mjs [--outdir DIR]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { plain, readPage, root, sections } from './docs-pages.mjs';

const { values } = parseArgs({ options: { outdir: { type: 'string' } } });
const outdir = resolve(values.outdir ?? join(root, 'docs'));

const readme = readPage('README.md');
const summary = plain(/^\*\*([\s\S]*?)\*\*$/m.exec(readme.text)?.[1]?.replaceAll('\n', ' ') ?? readme.about);
const all = sections();

const list = [`# Mooring\n\n> ${summary}\n`];
for (const { title, pages } of all) {
  const rows = pages.map(({ title: name, path, about }) =>
    [`- [${name}](${posix.relative('docs', path)})`, ...(about === '' ? [] : [about])].join(': ').concat('\n'),
  );
  if (rows.length > 0) list.push(`## ${title}\n\n${rows.join('')}`);
}

const left = /^docs\/(contributing\/|reference\/api\/|performance\.md)/;
const full = [readme, ...all.flatMap(({ pages }) => pages).filter(({ path }) => !left.test(path))];

mkdirSync(outdir, { recursive: true });
writeFileSync(join(outdir, 'llms.txt'), list.join('\n'));
writeFileSync(
  join(outdir, 'llms-full.txt'),
  full.map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`).join('\n'),
);
