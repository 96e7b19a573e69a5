// The official SDK with its skills, on both eras: node sdk-skills.mjs
import { McpServer } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const files = {
  'refunds/SKILL.md':
    '---\nname: refunds\ndescription: Refunds a customer\nlicense: MIT\nmetadata:\n  version: "2.1"\ndetails:\n  regions: [eu, us]\n---\n\n# Refunds\n',
  'refunds/templates/letter.md': 'Dear customer, ä\n',
  'refunds/templates/my letter.md': 'Dear you\n',
  'refunds/logo.png': Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 255),
};
for (const name of ['a', 'b', 'c']) files[`${name}/SKILL.md`] = `---\nname: ${name}\ndescription: x\n---\n`;

const skills = await SkillsExtension.load(memorySkillFiles(files), { prefix: 'acme', pageSize: 2 });
serveStdio(() => {
  const server = new McpServer({ name: 'sdk-skills', version: '1.0.0' });
  skills.attach(server);
  return server;
});
