// Skills of a view. The URIs of a skill and of its files are those of its resources at the gateway, so that they can be read and
// have the content that the entry describes.

import { type Skill, skillProblem } from '../../protocol/skills.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamLists } from '../contract.ts';
import type { ExposedItem } from './exposed-items.ts';
import type { UriRoutes } from './uris.ts';

export interface ExposedSkills {
  readonly skills: readonly ExposedItem<Skill>[];
  readonly warnings: readonly string[];
}

interface SkillServer {
  readonly config: UpstreamConfig;
  readonly lists: Pick<UpstreamLists, 'skills' | 'warnings'>;
}

/** A skill is shown if filters show all its files. */
export function exposeSkills(servers: readonly SkillServer[], uris: UriRoutes): ExposedSkills {
  const skills: ExposedItem<Skill>[] = [];
  const warnings: string[] = [];
  for (const { config, lists } of servers) {
    const { slug } = config;
    for (const each of lists.warnings ?? []) warnings.push(`${slug}: ${each}`);
    for (const skill of lists.skills ?? []) {
      const item = uris.exposeSkill(slug, skill);
      if (item === undefined) continue;
      const problem = item === skill ? undefined : skillProblem(item);
      if (problem === undefined) skills.push({ slug, original: skill.uri, exposed: item.uri, item });
      else
        warnings.push(`${slug}: the skill ${skill.uri} is left out, because its URI would be ${item.uri}: ${problem}`);
    }
  }
  return { skills, warnings };
}
