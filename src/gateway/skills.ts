// Skills of servers: whether a server has them, and which of them may be shown.

import { cleanText, cleanValue } from '../common/hygiene.ts';
import { isObject } from '../protocol/json-rpc.ts';
import type { Capabilities, JsonObject } from '../protocol/model.ts';
import { extensionSettings, skillsExtension } from '../protocol/revisions/index.ts';
import { type Skill, skillProblem } from '../protocol/skills.ts';

/**
 * The files of all skills of one server; skills after that are left out. Stops a server with very many from making every change of a
 * view slow.
 */
const maxFiles = 50_000;
/** More than any author writes. It cannot be shortened, because hosts compare it with the file. */
const maxFrontmatterChars = 65_536;
/** Skills that a warning names. */
const maxNamed = 3;
const maxNamedChars = 300;

/** The settings of the extension in the capabilities of a server; undefined: it does not have the extension. */
export function skillSettings(capabilities: Capabilities): JsonObject | undefined {
  return extensionSettings(capabilities, skillsExtension);
}

/** Some skills, and a warning about the others if there are any. */
export interface SelectedSkills {
  readonly skills: readonly Skill[];
  readonly warnings: readonly string[];
}

/** Those whose entry is valid, each once. */
export function validSkills(listed: readonly unknown[]): SelectedSkills {
  const seen = new Set<string>();
  let files = 0;
  return select(listed, (skill) => {
    const problem = skillProblem(skill);
    if (problem !== undefined) return problem;
    const { uri, resources } = skill as Skill;
    if (seen.has(uri)) return 'it is listed twice';
    files += resources === 'dynamic' ? 1 : resources.length;
    if (files > maxFiles) return `the skills of the server have more than ${maxFiles} files`;
    seen.add(uri);
    return undefined;
  });
}

/**
 * Those whose texts can be shown as they are. Hidden characters cannot be removed: hosts compare the frontmatter of an entry with
 * that of the file, and the file with its digest.
 */
export function visibleSkills(listed: readonly Skill[]): SelectedSkills {
  const { skills, warnings } = select(listed, (skill) => hiddenProblem(skill as Skill));
  return { skills: skills.map(withValidMeta), warnings };
}

/** Why the texts of a skill cannot be shown; undefined if they can. */
export function hiddenProblem({ uri, frontmatter }: Skill): string | undefined {
  const text = JSON.stringify(frontmatter);
  if (text.length > maxFrontmatterChars) return `its frontmatter has more than ${maxFrontmatterChars} characters`;
  const isClean = cleanText(uri) === uri && JSON.stringify(cleanValue(frontmatter)) === text;
  return isClean ? undefined : 'its URI or frontmatter has hidden characters, or is nested too deeply';
}

function withValidMeta(skill: Skill): Skill {
  if (skill._meta === undefined || isObject(skill._meta)) return skill;
  const { _meta, ...rest } = skill;
  return rest;
}

function select(listed: readonly unknown[], problemOf: (skill: unknown) => string | undefined): SelectedSkills {
  const reasons: string[] = [];
  const skills = listed.filter((skill): skill is Skill => {
    const problem = problemOf(skill);
    if (problem !== undefined) reasons.push(`${nameOf(skill)}: ${problem}`);
    return problem === undefined;
  });
  return { skills, warnings: reasons.length === 0 ? [] : [warningOf(reasons)] };
}

function nameOf(skill: unknown): string {
  return JSON.stringify((isObject(skill) ? skill['uri'] : skill) ?? null);
}

function warningOf(reasons: readonly string[]): string {
  const named = reasons.slice(0, maxNamed).map((each) => cleanText(each, 'line', maxNamedChars));
  const others = reasons.length - named.length;
  return `skills are left out: ${[...named, ...(others === 0 ? [] : [`and ${others} more`])].join('; ')}`;
}
