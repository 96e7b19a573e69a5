// Compares a file of a skill with the entry of the skill: size, digest, and the YAML at the beginning of SKILL.md.

import { fromBase64 } from '../../common/base64url.ts';
import { parseFrontmatter } from '../../common/parse-yaml.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { ResourceContents } from '../../protocol/model.ts';
import { type Skill, type SkillFile, type SkillFrontmatter, skillLimits } from '../../protocol/skills.ts';
import { clientErrors } from '../errors.ts';

/** A file of a skill. */
export interface SkillFileContents {
  readonly uri: string;
  /** What the server calls its type. */
  readonly mimeType?: string;
  readonly bytes: Uint8Array;
  /** The bytes as text, if the server sent text. Always there for `SKILL.md`. */
  readonly text?: string;
  /** Size and digest are those of the entry. False for skills that are `dynamic`, whose entries have none. */
  readonly verified: boolean;
}

/** How many differences an error names. */
const maxDifferences = 5;

/** Verifies the files of skills, and counts those of skills whose entries do not say how large they are. */
export class SkillVerifier {
  /** What was read of each skill that is `dynamic`: bytes by URI. */
  readonly #sizes = new WeakMap<Skill, Map<string, number>>();

  /** Throws if the file is not what the entry says. `content` has a text or a blob. */
  async verify(skill: Skill, uri: string, content: Partial<ResourceContents>): Promise<SkillFileContents> {
    const mismatch = (why: string, cause?: unknown): Error => clientErrors.skillMismatch(skill.uri, uri, why, cause);
    const bytes = bytesOf(content);
    if (bytes === undefined) throw mismatch('its blob is not base64');
    const { resources } = skill;
    const problem =
      resources === 'dynamic'
        ? this.#count(skill, uri, bytes.length)
        : await contentProblem(bytes, resources.find((each) => each.uri === uri) as SkillFile);
    if (problem !== undefined) throw mismatch(problem);

    // From the bytes: they were verified, and a text can have other characters that are encoded in the same way.
    const text = content.text !== undefined || uri === skill.uri ? toText(bytes) : undefined;
    if (uri === skill.uri) {
      if (text === undefined) throw mismatch('it is not UTF-8');
      const frontmatter = await parseFrontmatter(text).catch((error: Error) => {
        throw mismatch(`its YAML cannot be read: ${error.message}`, error);
      });
      const differences = differencesOf(frontmatter, skill.frontmatter);
      if (differences.length > 0) throw mismatch(`its YAML differs in ${differences.join(', ')}`);
    }
    const { mimeType } = content;
    return {
      uri,
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
      bytes,
      ...(text === undefined ? {} : { text }),
      verified: resources !== 'dynamic',
    };
  }

  #count(skill: Skill, uri: string, size: number): string | undefined {
    const sizes = this.#sizes.get(skill) ?? new Map<string, number>();
    this.#sizes.set(skill, sizes);
    const total = [...sizes].reduce((sum, [each, other]) => (each === uri ? sum : sum + other), size);
    if (total > skillLimits.maxBytes) return `the files of the skill have more than ${skillLimits.maxBytes} bytes`;
    sizes.set(uri, size);
    return undefined;
  }
}

function bytesOf({ text, blob = '' }: Partial<ResourceContents>): Uint8Array<ArrayBuffer> | undefined {
  return typeof text === 'string' ? new TextEncoder().encode(text) : fromBase64(blob);
}

/** Undefined if the bytes are not UTF-8. */
function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function contentProblem(bytes: Uint8Array<ArrayBuffer>, file: SkillFile): Promise<string | undefined> {
  if (bytes.length !== file.size) return `it has ${bytes.length} bytes, not ${file.size}`;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const digest = `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return digest === file.digest ? undefined : `its digest is ${digest}, not ${file.digest}`;
}

/** The names of the fields that differ, for an error. */
function differencesOf(actual: { readonly [key: string]: unknown }, expected: SkillFrontmatter): string[] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
  const different = names.filter((name) => !isSame(own(actual, name), own(expected, name)));
  const shown = different.slice(0, maxDifferences).map((name) => JSON.stringify(name.slice(0, 64)));
  return different.length > shown.length ? [...shown, `and ${different.length - shown.length} more`] : shown;
}

function own(object: { readonly [key: string]: unknown }, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Whether two values are the same JSON. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((each, at) => isSame(each, b[at]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}
