// Builds the documentation site from the same markdown that the repository and the package show: static pages, a search
// index, one style sheet, one script, no requests to other hosts. A link that leads nowhere fails the build.
//
//   node scripts/docs-site.mjs [--outdir DIR]
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Marked } from 'marked';
import { plain, readPage, root, sections, slugger } from './docs-pages.mjs';

const { values } = parseArgs({ options: { outdir: { type: 'string' } } });
const outdir = resolve(values.outdir ?? join(root, 'site'));
/** Characters of a section that can be searched. */
const maxSearchedText = 1500;

const navigation = sections();
const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'RELEASING.md', 'SECURITY.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join('docs', path.replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.md')),
].map(readPage);

/** Where a file of the repository is on the site: `docs/` is its root. @param {string} path */
function address(path) {
  if (path === 'README.md') return 'index.html';
  if (path === 'docs/README.md') return 'contents.html';
  // In a folder of their own: SECURITY.md and docs/security.md are one name where case does not count.
  if (!path.startsWith('docs/')) return `project/${path.toLowerCase().replace(/\.md$/, '.html')}`;
  return path
    .replace(/^docs\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.html')
    .replace(/\.md$/, '.html');
}

/** @param {string} text */
const escapeHtml = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Files that pages link to and that are no pages, by their place in the repository. @type {Set<string>} */
const files = new Set();
/** @type {{ from: string, to: string, id: string }[]} */
const links = [];
/** Ids of each page of the site. @type {Map<string, Set<string>>} */
const ids = new Map();
/** @type {{ page: string, heading: string, url: string, text: string }[]} */
const searchIndex = [];
/** @type {string[]} */
const problems = [];

/** The address of a link, from the page it is on. @param {import('./docs-pages.mjs').Page} page @param {string} href */
function resolveLink(page, href) {
  if (/^[a-z]+:/.test(href)) return href;
  const [path = '', id = ''] = href.split('#');
  const target = path === '' ? page.path : posix.join(posix.dirname(page.path), path).replace(/\/$/, '');
  if (!existsSync(join(root, target))) {
    problems.push(`${page.path}: ${href} does not exist`);
    return href;
  }
  const isFolder = statSync(join(root, target)).isDirectory();
  const file = isFolder && existsSync(join(root, target, 'README.md')) ? `${target}/README.md` : target;
  if (!file.endsWith('.md')) {
    if (isFolder) problems.push(`${page.path}: ${href} is a folder without a page`);
    else files.add(file);
  }
  const to = address(file);
  if (file.endsWith('.md')) links.push({ from: page.path, to, id });
  const relative = posix.relative(posix.dirname(address(page.path)), to);
  return `${relative}${id === '' ? '' : `#${id}`}`;
}

/** @param {import('./docs-pages.mjs').Page} page */
function renderBody(page) {
  const makeId = slugger();
  const own = new Set();
  ids.set(address(page.path), own);
  const marked = new Marked({ gfm: true });
  marked.use({
    walkTokens: (token) => {
      if (token.type === 'link' || token.type === 'image') token.href = resolveLink(page, token.href);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        const id = makeId(plain(text));
        own.add(id);
        const html = this.parser.parseInline(tokens);
        return depth === 1
          ? `<h1 id="${id}">${html}</h1>\n`
          : `<h${depth} id="${id}"><a href="#${id}">${html}</a></h${depth}>\n`;
      },
      table(token) {
        const row = (/** @type {typeof token.header} */ cells, /** @type {string} */ tag) =>
          `<tr>${cells.map((cell) => `<${tag}${cellClass(cell)}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const head = token.header.some((cell) => cell.text !== '') ? `<thead>${row(token.header, 'th')}</thead>` : '';
        return `<div class="table"><table>${head}<tbody>${token.rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>\n`;
      },
    },
  });
  index(page);
  return marked.parse(page.text);
}

/** Figures are aligned as the page says, and neither they nor dates are broken. @param {import('marked').Tokens.TableCell} cell */
function cellClass({ text, align, header }) {
  const classes = [
    ...(align === 'right' ? ['right'] : []),
    ...(!header && (align === 'right' || /^[\d-]{1,16}$/.test(text)) ? ['whole'] : []),
  ];
  return classes.length === 0 ? '' : ` class="${classes.join(' ')}"`;
}

/** One entry per section. @param {import('./docs-pages.mjs').Page} page */
function index(page) {
  const makeId = slugger();
  let inCode = false;
  /** @type {{ heading: string, id: string, lines: string[] }} */
  let section = { heading: '', id: '', lines: [] };
  const add = () => {
    const text = plain(
      section.lines
        .join(' ')
        .replaceAll(/[|`*#]+|<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' '),
    );
    const url = `${address(page.path)}${section.id === '' ? '' : `#${section.id}`}`;
    searchIndex.push({ page: page.title, heading: section.heading, url, text: text.slice(0, maxSearchedText) });
  };
  for (const line of page.text.split('\n')) {
    if (line.startsWith('```')) inCode = !inCode;
    const heading = inCode ? null : /^(#+) (.*)$/.exec(line);
    if (heading === null) {
      section.lines.push(line);
      continue;
    }
    const title = plain(heading[2] ?? '');
    const id = makeId(title);
    if (heading[1] === '#') continue;
    add();
    section = { heading: title, id, lines: [] };
  }
  add();
}

/** @param {string} current */
function renderNavigation(current) {
  const base = posix.dirname(current);
  const groups = navigation.map(({ title, pages: linked }) => {
    const items = linked.map((page) => {
      const to = address(page.path);
      const mark = to === current ? ' aria-current="page"' : '';
      return `<li><a href="${posix.relative(base, to)}"${mark}>${escapeHtml(page.title)}</a></li>`;
    });
    return items.length === 0 ? '' : `<h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul>`;
  });
  return `<nav aria-label="Pages"><details><summary>All pages</summary>${groups.join('')}</details></nav>`;
}

/** @param {import('./docs-pages.mjs').Page} page */
function render(page) {
  const current = address(page.path);
  const base = '../'.repeat(current.split('/').length - 1);
  const title = page.path === 'README.md' ? 'Mooring' : `${escapeHtml(page.title)} · Mooring`;
  return `<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${escapeHtml(page.about)}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}site.css">
</head>
<body>
<header>
<a href="${base}index.html">Mooring</a>
<div class="search" role="search">
<input type="search" placeholder="Search (press /)" aria-label="Search" autocomplete="off">
<ol hidden></ol>
</div>
</header>
<div class="columns">
${renderNavigation(current)}
<main>
${renderBody(page)}</main>
</div>
<script src="${base}site.js" defer></script>
</body>
</html>
`;
}

/** @param {string} name @param {string} text */
function write(name, text) {
  const file = join(outdir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

rmSync(outdir, { recursive: true, force: true });
for (const page of pages) write(address(page.path), render(page));
write('search-index.js', `globalThis.searchIndex = ${JSON.stringify(searchIndex)};\n`);
for (const name of ['site.css', 'site.js']) copyFileSync(join(root, 'scripts/site', name), join(outdir, name));
// Models read the markdown that llms.txt links to.
for (const name of ['llms.txt', 'llms-full.txt']) copyFileSync(join(root, 'docs', name), join(outdir, name));
for (const { path, text } of pages) if (path.startsWith('docs/')) write(path.replace(/^docs\//, ''), text);
for (const file of files) {
  const target = join(outdir, address(file));
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(join(root, file), target);
}

for (const { from, to, id } of links) {
  const known = ids.get(to);
  if (known === undefined) problems.push(`${from}: ${to} is not on the site`);
  else if (id !== '' && !known.has(id)) problems.push(`${from}: ${to} has no heading #${id}`);
}
if (problems.length > 0) {
  console.error(`Dead links:\n${problems.join('\n')}`);
  process.exitCode = 1;
} else console.log(`${pages.length} pages in ${outdir}`);
