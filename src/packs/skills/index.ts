// The pack `skills`: folders of instructions for models (Agent Skills) as skill:// resources, with the list that clients load
// them from.

import { basename } from 'node:path';
import { assertKnownOptions } from '../../common/known-options.ts';
import { silentLogger } from '../../common/logger.ts';
import { resourceEntry, skillEntry } from '../../engine/catalog/new-entries.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { skillLimits } from '../../protocol/skills.ts';
import { type FileTree, type OwnFiles, openRoots } from '../../security/files/tree.ts';
import { FolderWatch } from '../workspace/folder-watch.ts';
import { mimeTypeOf } from '../workspace/mime.ts';
import { readResource } from '../workspace/read-resource.ts';
import { type DigestCache, findSkills, type SkillOnDisk } from './find-skills.ts';

export { addSkill, type SkillContents } from './add-skill.ts';

export interface SkillsOptions {
  /** Folders with skills: each folder in them, at any depth, that has a `SKILL.md`. A folder may also be a skill itself. */
  readonly folders: readonly string[];
  /** Comes first in the URIs: with `acme/billing`, the skill `refunds` is `skill://acme/billing/refunds/SKILL.md`. */
  readonly prefix?: string;
  /** Whether changed files are noticed while the server runs. Default: true. */
  readonly watch?: boolean;
  /** How many skills a folder may have; the others are left out. Default: 1,000. */
  readonly maxSkills?: number;
  /** Files of the server itself, which are not offered. */
  readonly own?: OwnFiles;
}

/** The pack, and how to read its folders again. */
export interface SkillsPack extends Pack<Server> {
  /** Reads the folders again, for a pack that does not watch them. Clients are notified if a skill has changed. */
  reload(): Promise<void>;
}

const known: Record<keyof SkillsOptions, true> = {
  folders: true,
  prefix: true,
  watch: true,
  maxSkills: true,
  own: true,
};

/** Adds the skills in some folders to a server. Await `server.use(skills(…))`: it reads them before it resolves. */
export function skills(options: SkillsOptions): SkillsPack {
  const folders: unknown = options?.folders;
  if (!Array.isArray(folders) || folders.length === 0) {
    throw new TypeError(
      'skills() needs "folders", a list of folders that have skills in them: skills({ folders: [\'/srv/skills\'] })',
    );
  }
  assertKnownOptions('skills', options, known);
  let installed: InstalledSkills | undefined;
  return {
    name: 'skills',
    async install(server) {
      installed = new InstalledSkills(server, options);
      await installed.start();
    },
    async reload() {
      await installed?.reload();
    },
    async close() {
      installed?.close();
    },
  };
}

class InstalledSkills {
  readonly #server: Server;
  readonly #options: SkillsOptions;
  readonly #trees: readonly FileTree[];
  readonly #watches: FolderWatch[] = [];
  readonly #digests: DigestCache = new Map();
  /** The URI of each file, by its path. */
  #uris: ReadonlyMap<string, string> = new Map();
  /** Resolves when the folders have been read. */
  #reading: Promise<void> = Promise.resolve();
  #isDue = false;
  #closed = false;

  constructor(server: Server, options: SkillsOptions) {
    const { folders, prefix = '', own } = options;
    if (/^\/|\/\/|\/$/.test(prefix))
      throw new TypeError(`skills(): the prefix ${JSON.stringify(prefix)} has an empty part`);
    this.#server = server;
    this.#options = options;
    // Package managers share files with hard links, and the folders were chosen by the operator.
    const limits = { maxFileBytes: skillLimits.maxBytes, maxEntries: 50_000, allowHardLinks: true };
    this.#trees = folders.map((folder) => openRoots([folder], { ...limits, own }));
  }

  async start(): Promise<void> {
    const logger = this.#server.logger ?? silentLogger;
    if (this.#options.watch !== false) {
      const listener = {
        fileChanged: (path: string) => this.#fileChanged(path),
        listChanged: () => this.#reloadSoon(),
      };
      for (const tree of this.#trees) this.#watches.push(new FolderWatch(tree, listener, { logger }));
      // The watch comes first, so that no change is missed.
      await Promise.all(this.#watches.map((each) => each.start()));
    }
    await this.reload();
  }

  close(): void {
    this.#closed = true;
    for (const each of this.#watches) each.close();
  }

  reload(): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#read());
    return this.#reading;
  }

  #fileChanged(path: string): void {
    const uri = this.#uris.get(path);
    if (uri !== undefined) this.#server.resourceUpdated(uri, undefined, 'each-process');
    this.#reloadSoon();
  }

  /** Changes that come while the folders are read are read together afterwards. */
  #reloadSoon(): void {
    if (this.#isDue || this.#closed) return;
    this.#isDue = true;
    const read = async (): Promise<void> => {
      await this.#reading.catch(() => {});
      this.#isDue = false;
      await this.reload();
    };
    read().catch((error: unknown) => this.#server.logger?.error('skills could not be read again', { error }));
  }

  async #read(): Promise<void> {
    const { prefix = '', maxSkills = 1_000 } = this.#options;
    const { logger } = this.#server;
    const found = new Map<string, SkillOnDisk & { readonly tree: FileTree }>();
    for (const tree of this.#trees) {
      const skillsOfTree = await findSkills(tree, {
        prefix,
        maxSkills,
        digests: this.#digests,
        warn: (message, details) => logger?.warn(message, details),
      });
      for (const each of skillsOfTree) {
        const { uri } = each.skill;
        if (found.has(uri)) logger?.warn('a skill was left out: another folder has one with the same name', { uri });
        else found.set(uri, { ...each, tree });
      }
    }
    if (!this.#closed) this.#show([...found.values()]);
  }

  #show(found: readonly (SkillOnDisk & { readonly tree: FileTree })[]): void {
    const resources = new Map<string, ReturnType<typeof resourceEntry>>();
    const uris = new Map<string, string>();
    for (const { skill, files, tree } of found) {
      for (const { uri, size } of skill.resources) {
        const file = files.get(uri) as string;
        const isMain = uri === skill.uri;
        // It is also a file of a skill around this one.
        if (resources.has(uri) && !isMain) continue;
        const name = basename(file);
        const mimeType = mimeTypeOf(name);
        const read = (ctx: Parameters<typeof readResource>[2]) => readResource(tree, { file, uri, mimeType }, ctx);
        const { name: title, description } = skill.frontmatter;
        const described = isMain ? { name: title, description } : { name, listed: false };
        resources.set(uri, resourceEntry(uri, { ...described, mimeType, size, read }));
        uris.set(file, uri);
      }
    }
    this.#uris = uris;
    const entries = { skills: found.map(({ skill }) => skillEntry(skill)), resources: [...resources.values()] };
    for (const uri of this.#server.replaceEntries(this, entries)) {
      this.#server.logger?.warn('a file of a skill was left out: its URI is registered already', { uri });
    }
  }
}

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

/** The options of this pack in a configuration file. */
export const skillsSchema = {
  type: 'object',
  properties: {
    folders: texts,
    prefix: { type: 'string' },
    watch: { type: 'boolean' },
    maxSkills: { type: 'integer', minimum: 1 },
  },
  additionalProperties: false,
} as const;
