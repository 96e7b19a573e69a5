// A skill whose files are in the program.

import { createHash } from 'node:crypto';
import { parseFrontmatter } from '../../common/parse-yaml.ts';
import type { Registration } from '../../engine/definitions.ts';
import type { Server } from '../../engine/server.ts';
import { type SkillFrontmatter, skillFileName } from '../../protocol/skills.ts';
import { mimeTypeOf } from '../workspace/mime.ts';
import { encodePath } from './skill-uri.ts';

/** The files of a skill by path: texts, or bytes. `SKILL.md` is one of them. */
export type SkillContents = Readonly<Record<string, string | Uint8Array>>;

/**
 * Registers a skill with its files. `path`: where it is below `skill://`; its last part is the name of the skill, such as
 * `acme/billing/refunds`.
 */
export async function addSkill(server: Server, path: string, contents: SkillContents): Promise<Registration> {
  const main = contents[skillFileName];
  if (typeof main !== 'string') throw new TypeError(`Skill ${JSON.stringify(path)} needs a text ${skillFileName}`);
  const folder = `skill://${encodePath(path.split('/'))}`;
  const uriOf = (file: string): string => `${folder}/${encodePath(file.split('/'))}`;
  const frontmatter = (await parseFrontmatter(main).catch((error: Error) => {
    throw new TypeError(`Skill ${JSON.stringify(path)}, ${skillFileName}: ${error.message}`, { cause: error });
  })) as SkillFrontmatter;
  const resources = Object.entries(contents).map(([file, content]) => {
    const bytes = Buffer.from(content);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    return { uri: uriOf(file), digest, size: bytes.length };
  });
  const registered = [server.skill({ uri: uriOf(skillFileName), frontmatter, resources })];
  const remove = (): void => {
    for (const each of registered.splice(0)) each.remove();
  };
  try {
    for (const [file, content] of Object.entries(contents)) {
      const isMain = file === skillFileName;
      const { name, description } = frontmatter;
      const described = isMain ? { name, description } : { name: file.slice(file.lastIndexOf('/') + 1), listed: false };
      const read = () => content;
      registered.push(server.resource(uriOf(file), { ...described, mimeType: mimeTypeOf(file), read }));
    }
  } catch (error) {
    remove();
    throw error;
  }
  return { remove };
}
