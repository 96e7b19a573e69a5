// The official SDK with skills, over stdio.
import { McpServer } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const files = memorySkillFiles({
  'refunds/SKILL.md':
    '---\nname: refunds\ndescription: refunds of sdk\nlicense: MIT\n---\n\nSee templates/letter.md.\n',
  'refunds/templates/letter.md': 'Dear customer,\n',
  'refunds/assets/logo.png': new Uint8Array([137, 80, 78, 71, 0, 255]),
});
const skills = await SkillsExtension.load(files, { prefix: 'acme' });
serveStdio(() => {
  const server = new McpServer(
    { name: 'sdk', version: '1.0.0' },
    { capabilities: { resources: { listChanged: true } } },
  );
  skills.attach(server);
  return server;
});
