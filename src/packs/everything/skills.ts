// Skills: one with files in folders, and one that is generated.

import type { Server } from '../../engine/server.ts';
import { addSkill } from '../skills/index.ts';

const letter = `---
name: write-letter
description: Writes a letter in the style of this server. Use it to test skills.
license: MIT
metadata:
  version: "1.0"
---

# Write a letter

1. Choose a template from \`templates/\`.
2. Follow [the rules](references/rules.md).
`;

export async function installSkills(server: Server): Promise<void> {
  await addSkill(server, 'test/write-letter', {
    'SKILL.md': letter,
    'references/rules.md': '# Rules\n\nBe brief.\n',
    'templates/formal.md': 'Dear …,\n',
    'templates/regional/eu.md': 'Dear Sir or Madam,\n',
  });
  const folder = 'skill://test/today';
  const frontmatter = { name: 'today', description: 'What to do today. Its files are generated.' };
  const text = `---\nname: ${frontmatter.name}\ndescription: ${frontmatter.description}\n---\n\nRead \`plan.md\`.\n`;
  server.skill({ uri: `${folder}/SKILL.md`, frontmatter, resources: 'dynamic' });
  server.resource(`${folder}/SKILL.md`, { ...frontmatter, mimeType: 'text/markdown', read: () => text });
  server.resource(`${folder}/plan.md`, {
    name: 'plan.md',
    mimeType: 'text/markdown',
    listed: false,
    read: () => `It is ${new Date().toISOString()}.\n`,
  });
}
