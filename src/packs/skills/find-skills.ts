// Finds the skills in a folder: every folder with a SKILL.md is one, with all files in and below it.

import { createHash } from 'node:crypto';
import { dirname, join, relative, sep } from 'node:path';
import { parseFrontmatter } from '../../common/parse-yaml.ts';
import {
  type Skill,
  type SkillFile,
  type SkillFrontmatter,
  skillFileName,
  skillLimits,
  skillProblem,
} from '../../protocol/skills.ts';
import type { FileEntry, FileTree } from '../../security/files/tree.ts';
import { encodePath } from './skill-uri.ts';

/** Left out: files of editors, of version control and of package managers. */
const excluded = ['.*', '**/.*', 'node_modules', '__pycache__'];

/** A skill, and where its files are. */
export interface SkillOnDisk {
  readonly skill: Skill & { readonly resources: readonly SkillFile[] };
  /** The path of each file, by its URI. */
  readonly files: ReadonlyMap<string, string>;
}

/** Digests of files by path, so that a file is read again only if it has changed. */
export type DigestCache = Map<string, { readonly size: number; readonly modifiedMs: number; readonly digest: string }>;

export interface FindSkillsOptions {
  /** Comes first in all URIs; empty: nothing does. */
  readonly prefix: string;
  readonly maxSkills: number;
  readonly digests: DigestCache;
  /** Called for each skill that is left out. */
  readonly warn: (message: string, details: { readonly folder: string; readonly reason: string }) => void;
}

/** The skills in the first root of a tree. */
export async function findSkills(tree: FileTree, options: FindSkillsOptions): Promise<readonly SkillOnDisk[]> {
  const root = tree.roots[0]?.path as string;
  const { entries, truncated } = await tree.list(root, { recursive: true, exclude: excluded });
  if (truncated)
    options.warn('not all files were looked at', { folder: root, reason: 'the folder has too many files' });
  const files = entries.filter(({ kind }) => kind === 'file');
  const found: SkillOnDisk[] = [];
  const bySkill = filesBySkill(root, files);
  // The name of the root is part of the URIs if the root is a skill itself.
  const top = bySkill.has(root) ? dirname(root) : root;
  for (const [folder, own] of bySkill) {
    if (found.length === options.maxSkills) {
      options.warn('further skills were left out', {
        folder: root,
        reason: `there are more than ${options.maxSkills}`,
      });
      break;
    }
    try {
      found.push(await readSkill(tree, { top, folder, files: own }, options));
    } catch (error) {
      options.warn('a skill was left out', { folder, reason: (error as Error).message });
    }
  }
  return found;
}

/** The files of each folder with a SKILL.md, in the order of their paths. Those of a skill in another one belong to both. */
function filesBySkill(root: string, files: readonly FileEntry[]): ReadonlyMap<string, readonly FileEntry[]> {
  const skills = new Map<string, FileEntry[]>();
  for (const { name, path } of files) if (name === skillFileName) skills.set(dirname(path), []);
  for (const file of files) {
    for (let folder = dirname(file.path); folder.length >= root.length; folder = dirname(folder)) {
      skills.get(folder)?.push(file);
    }
  }
  return skills;
}

interface SkillFolder {
  /** The folder that URIs begin below. */
  readonly top: string;
  readonly folder: string;
  readonly files: readonly FileEntry[];
}

async function readSkill(
  tree: FileTree,
  { top, folder, files }: SkillFolder,
  { prefix, digests }: FindSkillsOptions,
): Promise<SkillOnDisk> {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > skillLimits.maxFiles) throw new Error(`it has more than ${skillLimits.maxFiles} files`);
  if (bytes > skillLimits.maxBytes) throw new Error(`its files have more than ${skillLimits.maxBytes} bytes`);
  const below = encodePath(relative(top, folder).split(sep));
  const base = `skill://${prefix === '' ? '' : `${encodePath(prefix.split('/'))}/`}${below}`;
  const paths = new Map(files.map(({ path }) => [`${base}/${encodePath(relative(folder, path).split(sep))}`, path]));
  const resources: SkillFile[] = [];
  for (const [index, uri] of [...paths.keys()].entries()) {
    const file = files[index] as FileEntry;
    resources.push({ uri, digest: await digestOf(tree, file, digests), size: file.size });
  }
  const head = await tree.readFile(join(folder, skillFileName));
  const frontmatter = (await parseFrontmatter(head.toString('utf8'))) as SkillFrontmatter;
  const skill = { uri: `${base}/${skillFileName}`, frontmatter, resources };
  const problem = skillProblem(skill);
  if (problem !== undefined) throw new Error(problem);
  return { skill, files: paths };
}

async function digestOf(tree: FileTree, file: FileEntry, digests: DigestCache): Promise<string> {
  const { path, size, modifiedMs } = file;
  const known = digests.get(path);
  if (known !== undefined && known.size === size && known.modifiedMs === modifiedMs) return known.digest;
  const bytes = await tree.readFile(path);
  if (bytes.length !== size) throw new Error(`${path} was changed while it was read`);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  digests.set(path, { size, modifiedMs, digest });
  return digest;
}
