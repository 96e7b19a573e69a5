// The licences of packages whose code became part of a bundle: they ask to be named in every copy.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * The text to publish with a bundle: name, version and licence of every package in it, in order of their names.
 *
 * @param {string} root folder of the repository
 * @param {readonly import('rolldown').OutputChunk[]} output what rolldown made
 */
export function bundledLicenses(root, output) {
  const folders = new Set();
  for (const { moduleIds = [] } of output) {
    for (const id of moduleIds) {
      const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\\', '/')) ?? [];
      if (folder !== undefined) folders.add(folder);
    }
  }
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined || !existsSync(join(folder, file)))
      throw new Error(`${relative(root, folder)} has no licence`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return texts.sort().join(`\n${'-'.repeat(78)}\n\n`);
}
