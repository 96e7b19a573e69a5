// The pages of the documentation, in the order of docs/README.md. Shared by docs-llms.mjs and docs-site.mjs.
import { readFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** @typedef {{ path: string, title: string, about: string, text: string }} Page `path` is relative to the repository. */

/** @param {string} path @returns {Page} */
export function readPage(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const title = plain(/^# (.*)$/m.exec(text)?.[1] ?? path);
  const paragraph = /^# .*\n+((?:[A-Za-z`*[].*\n)+)/m.exec(text)?.[1] ?? '';
  const about = plain(paragraph.replaceAll('\n', ' '));
  return { path, title, text, about: /^.*?\.(?= |$)/.exec(about)?.[0] ?? about };
}

/** The sections of docs/README.md with the pages they link to; each page once. @returns {{ title: string, pages: Page[] }[]} */
export function sections() {
  const seen = new Set();
  return readFileSync(join(root, 'docs/README.md'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const links = [...section.matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? '');
      const paths = links.map((link) => posix.join('docs', link)).filter((path) => !seen.has(path));
      for (const path of paths) seen.add(path);
      return { title: plain(section.split('\n', 1)[0] ?? ''), pages: [...new Set(paths)].map(readPage) };
    });
}

/** Markdown of one line, without its marks. @param {string} text */
export function plain(text) {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`([^`]*)`/g, '$1')
    .replaceAll(/(\*\*?)([^*]+)\1/g, '$2')
    .trim();
}

/**
 * The ids of headings, as GitHub makes them; those that repeat are counted.
 * @returns {(title: string) => string}
 */
export function slugger() {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return (title) => {
    const name = title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(/\s/g, '-');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  };
}
