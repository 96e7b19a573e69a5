// Agent Skills (extension io.modelcontextprotocol/skills, SEP-2640): folders of instructions that a server offers, whose files
// are resources. What servers, clients and gateways share: identifiers, the entry of a skill, and what makes it valid.

import { isObject } from './json-rpc.ts';
import type { JsonObject, Meta } from './model.ts';

/** The file that every skill has. Its URI names the skill. */
export const skillFileName = 'SKILL.md';

/** The type of a folder among resources. */
export const folderType = 'inode/directory';

/** What every host accepts. */
export const skillLimits = { maxFiles: 512, maxBytes: 16 * 1024 * 1024, maxDescription: 1024 } as const;

/** The YAML at the beginning of `SKILL.md`, as an object. */
export interface SkillFrontmatter {
  /** The name of its folder: up to 64 of a-z, 0-9 and single hyphens between them. */
  readonly name: string;
  /** What it does and when to use it: up to 1,024 characters. */
  readonly description: string;
  readonly [key: string]: unknown;
}

/** A file of a skill. */
export interface SkillFile {
  readonly uri: string;
  /** SHA-256 of its bytes: `sha256:` and 64 hexadecimal digits in lower case. */
  readonly digest: string;
  /** Its length in bytes. */
  readonly size: number;
}

/** A skill, as servers list it. */
export interface Skill {
  /** The URI of its `SKILL.md`. */
  readonly uri: string;
  /** All of the YAML at the beginning of that file. */
  readonly frontmatter: SkillFrontmatter;
  /** All of its files, `SKILL.md` included. `dynamic`: they are generated, so that nothing is known about them. */
  readonly resources: readonly SkillFile[] | 'dynamic';
  readonly _meta?: Meta;
}

/** The folder of a skill, without a slash at the end. */
export function skillFolder(uri: string): string {
  return uri.slice(0, -skillFileName.length - 1);
}

/** What is wrong with the entry of a skill; undefined if it is valid. */
export function skillProblem(skill: unknown): string | undefined {
  if (!isObject(skill)) return 'it is not an object';
  const { uri, frontmatter, resources } = skill;
  if (typeof uri !== 'string' || !isSkillUri(uri)) {
    return '"uri" must be the URI of a SKILL.md in a folder, such as "skill://name/SKILL.md"';
  }
  return frontmatterProblem(frontmatter, uri) ?? (resources === 'dynamic' ? undefined : filesProblem(resources, uri));
}

/** Its segments, the host included, are checked as those of its files are. */
function isSkillUri(uri: string): boolean {
  const [, scheme] = /^([a-zA-Z][a-zA-Z0-9+.-]*:)\/\/.+\/SKILL\.md$/.exec(uri) ?? [];
  return scheme !== undefined && isInFolder(uri, `${scheme}/`);
}

function frontmatterProblem(frontmatter: unknown, uri: string): string | undefined {
  const { name, description } = isObject(frontmatter) ? frontmatter : ({} as JsonObject);
  if (typeof name !== 'string' || name.length > 64 || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
    return '"name" in its frontmatter must have 1 to 64 of a-z, 0-9 and single hyphens between them';
  }
  if (!skillFolder(uri).endsWith(`/${name}`)) return `its folder must have its name, ${JSON.stringify(name)}`;
  const length = typeof description === 'string' ? description.trim().length : 0;
  if (length > 0 && length <= skillLimits.maxDescription) return undefined;
  return `"description" in its frontmatter must have 1 to ${skillLimits.maxDescription} characters`;
}

function filesProblem(files: unknown, uri: string): string | undefined {
  if (!Array.isArray(files)) return '"resources" must be the list of its files, or "dynamic"';
  if (files.length > skillLimits.maxFiles) return `it has more than ${skillLimits.maxFiles} files`;
  const seen = new Set<unknown>();
  let bytes = 0;
  for (const file of files as unknown[]) {
    const problem = fileProblem(file, skillFolder(uri));
    if (problem !== undefined) return problem;
    const { uri: own, size } = file as SkillFile;
    if (seen.has(own)) return `${own} is listed twice`;
    seen.add(own);
    bytes += size;
  }
  if (!seen.has(uri)) return '"resources" lacks its SKILL.md';
  return bytes > skillLimits.maxBytes ? `its files have more than ${skillLimits.maxBytes} bytes` : undefined;
}

function fileProblem(file: unknown, folder: string): string | undefined {
  const { uri, digest, size } = isObject(file) ? file : ({} as JsonObject);
  if (typeof uri !== 'string') return 'each of its "resources" needs a "uri"';
  if (!isInFolder(uri, folder)) return `${uri} is not in its folder`;
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    return `${uri}: "digest" must be "sha256:" and 64 hexadecimal digits in lower case`;
  }
  return Number.isSafeInteger(size) && (size as number) >= 0 ? undefined : `${uri}: "size" must be its length in bytes`;
}

/** Whether a URI is that of a file in a folder: no segment is empty, and none leads out of it, percent-encoded or not. */
export function isInFolder(uri: string, folder: string): boolean {
  if (!uri.startsWith(`${folder}/`)) return false;
  const segments = uri.slice(folder.length + 1).split('/');
  return segments.every((segment) => !/[?#\\]/.test(segment) && !/^(\.|%2e){0,2}$|%2f|%5c/i.test(segment));
}
