// A server over stdio with a skill: node skills.mjs OWNER
import { createHash } from 'node:crypto';
import { createServer, serveStdio } from '../../../dist/index.js';

const owner = process.argv[2] ?? 'nobody';
const folder = 'skill://acme/refunds';
const files = {
  'SKILL.md': `---\nname: refunds\ndescription: refunds of ${owner}\n---\n\nSee references/more.md.\n`,
  'references/more.md': `Written by ${owner}\n`,
};
const server = createServer({ name: owner, version: '1.0.0', logger: false });
for (const [path, text] of Object.entries(files)) {
  server.resource(`${folder}/${path}`, { name: path, listed: path === 'SKILL.md', read: () => text });
}
server.skill({
  uri: `${folder}/SKILL.md`,
  frontmatter: { name: 'refunds', description: `refunds of ${owner}` },
  resources: Object.entries(files).map(([path, text]) => ({
    uri: `${folder}/${path}`,
    digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
    size: Buffer.byteLength(text),
  })),
});
await serveStdio(server);
