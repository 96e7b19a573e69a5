// Servers with skills, and what a host does with them: read every file and compare it with the entry.

import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import type { JsonObject } from '../../src/protocol/model.ts';
import type { Skill } from '../../src/protocol/skills.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

const sha256 = (bytes: string | Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** The text of a `SKILL.md`. */
export function skillText(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nSee references/more.md.\n`;
}

/** The files of a skill; `owner` is in each of them. */
export function filesOf(name: string, owner: string): Files {
  return {
    'SKILL.md': skillText(name, `${name} of ${owner}`),
    'references/more.md': `Written by ${owner}, with ünïcödé\r\n`,
    'assets/logo.png': new Uint8Array([0x89, 0x50, 0, 255, owner.length]),
  };
}

/** The entry of a skill with these files. */
export function entryOf(folder: string, files: Files, description: string): Skill {
  return {
    uri: `${folder}/SKILL.md`,
    frontmatter: { name: folder.slice(folder.lastIndexOf('/') + 1), description },
    resources: Object.entries(files).map(([path, content]) => ({
      uri: `${folder}/${path}`,
      digest: sha256(content),
      size: Buffer.byteLength(content),
    })),
  };
}

/** Adds a skill to a server. Only its `SKILL.md` is in the list of resources. */
export function addSkill(server: Server, folder: string, owner: string, more: Partial<Skill> = {}): Skill {
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  const files = filesOf(name, owner);
  const skill = { ...entryOf(folder, files, `${name} of ${owner}`), ...more };
  server.skill(skill);
  for (const [path, content] of Object.entries(files)) {
    server.resource(`${folder}/${path}`, { name: path, listed: path === 'SKILL.md', read: () => content });
  }
  return skill;
}

export function skillServer(owner: string, ...folders: string[]): Server {
  const server = createServer({ name: owner, version: '1.0.0', logger: false });
  for (const folder of folders) addSkill(server, folder, owner);
  return server;
}

/** All pages of a list. */
export async function listAll<Item>(client: Client, method: string, member: string, params: JsonObject = {}) {
  const items: Item[] = [];
  let cursor: unknown;
  do {
    const result = await client.request(method, cursor === undefined ? params : { ...params, cursor });
    items.push(...(result[member] as Item[]));
    cursor = result['nextCursor'];
  } while (cursor !== undefined);
  return items;
}

export function listSkills(client: Client): Promise<Skill[]> {
  return listAll<Skill>(client, 'skills/list', 'skills');
}

export async function getSkill(client: Client, uri: string): Promise<Skill> {
  return (await client.request('skills/get', { uri }))['skill'] as Skill;
}

/** Reads all files of a skill. Each must be what the entry describes. */
export async function verifySkill(client: Client, { uri: skillUri, frontmatter, resources }: Skill): Promise<void> {
  if (resources === 'dynamic') throw new Error('it has no digests');
  for (const { uri, digest, size } of resources) {
    const { contents } = await client.readResource(uri);
    const { text, blob, uri: read } = contents[0] as { text?: string; blob?: string; uri: string };
    const bytes = text === undefined ? Buffer.from(blob as string, 'base64') : Buffer.from(text);
    expect({ uri: read, digest: sha256(bytes), size: bytes.length }).toEqual({ uri, digest, size });
    if (uri === skillUri) expect(text).toContain(`description: ${frontmatter.description}\n`);
  }
}
