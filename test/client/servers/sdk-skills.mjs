// The official SDK with its skills, on both eras: node sdk-skills.mjs [http]
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
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
const build = () => {
  const server = new McpServer({ name: 'sdk-skills', version: '1.0.0' });
  skills.attach(server);
  return server;
};

if (process.argv[2] === 'http') {
  const serve = toNodeHandler(createMcpHandler(build));
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1', () => console.error(`listening on http://127.0.0.1:${server.address().port}/mcp`));
} else serveStdio(build);
