// skills/list, skills/get and resources/directory/read: the skills of a server, and the folders of their files.

import { wireErrors } from '../../protocol/errors.ts';
import type { CacheHint, Resource } from '../../protocol/model.ts';
import { folderType, type Skill, skillFileName, skillFolder } from '../../protocol/skills.ts';
import { isVisible } from '../catalog/catalog-entry.ts';
import type { ListItem } from '../catalog/lists.ts';
import type { Call, Feature } from '../contract.ts';
import { gatheredResources } from './resources.ts';

export const listSkills: Feature<string> = {
  run: (call) => call.server.lists.page('skills', call),
  encode: (page, { server }) => server.lists.encode(page),
};

export const getSkill: Feature<string> = {
  duration: 'handler',
  run(call) {
    const uri = call.params['uri'] as string;
    const entry = call.catalog.skills.get(uri);
    if (entry !== undefined && !isVisible(entry, call.peer.principal)) throw wireErrors.unknownSkill(uri);
    // The list of another server may be older than the files that are read from it.
    if (entry === undefined || entry.relayed === true) return otherSkill(call, uri);
    return call.codec.skill(entry.describe(), call.server.lists.hintFor(call.catalog));
  },
  encode: (text) => text,
};

/** For skills without a cache hint. */
const notCached: CacheHint = { ttlMs: 0, cacheScope: 'private' };

async function otherSkill({ server, catalog, peer, codec, ctx }: Call, uri: string): Promise<string> {
  const allows = (key: string): boolean => catalog.allows('resources', key, peer.principal);
  const found = allows(uri) ? await server.otherSkills?.get(uri, ctx) : undefined;
  if (found === undefined || !allows(found.skill.uri)) throw wireErrors.unknownSkill(uri);
  const { skill, cache = notCached } = found;
  return codec.skill(skill, catalog.hides ? { ...cache, cacheScope: 'private' } : cache);
}

export const readDirectory: Feature<string> = {
  duration: 'handler',
  async run(call) {
    const uri = call.params['uri'] as string;
    const isFolderUri = /^[^:]+:\/\/[^/]/.test(uri) && !uri.endsWith('/');
    const children = isFolderUri ? await childrenIn(uri, call) : undefined;
    if (children === undefined) throw wireErrors.notAFolder(uri);
    const rows = children.map((item): ListItem<'resources'> => ({ key: item.uri, item }));
    return call.server.lists.pageOf('resources', call, rows, uri);
  },
  encode: (text) => text,
};

/** Undefined if it is not a folder that the caller may see. */
async function childrenIn(uri: string, call: Call): Promise<readonly Resource[] | undefined> {
  const { catalog, peer, server } = call;
  const entries = [...catalog.skills.values()];
  const visible = entries.filter((entry) => isVisible(entry, peer.principal));
  const skills = visible.map((entry) => entry.describe());
  const isIn = (skill: { readonly uri: string }): boolean => `${uri}/`.startsWith(`${skillFolder(skill.uri)}/`);
  const isBelow = (skill: Skill): boolean => skillFolder(skill.uri).startsWith(`${uri}/`);
  const files = listedFiles(call, skills.filter(isIn));
  // One file is enough to show the folder of a skill that is further below.
  for (const skill of skills.filter(isBelow)) files.set(skill.uri, { uri: skill.uri, name: skillFileName });
  const generated = skills.filter(({ resources }) => resources === 'dynamic');
  const isListed = childrenOf(uri, files).size > 0 && !generated.some(isIn);
  // The folder of a skill that is hidden does not exist.
  const isHidden = entries.some(({ key }) => isIn({ uri: key })) && !skills.some(isIn);
  if (!isListed && !isHidden && catalog.allows('resources', uri, peer.principal)) {
    const others = await server.otherSkills?.readDirectory(uri, call.ctx);
    if (others !== undefined) return others.filter((each) => catalog.allows('resources', each.uri, peer.principal));
  }
  if (generated.length > 0) await addGenerated(files, generated, call);
  const children = [...childrenOf(uri, files).values()];
  return children.length === 0 ? undefined : children;
}

/** The files in the entries of skills, by URI. */
function listedFiles({ catalog }: Call, skills: readonly Skill[]): Map<string, Resource> {
  const files = new Map<string, Resource>();
  for (const { resources } of skills) {
    if (resources === 'dynamic') continue;
    for (const { uri, size } of resources) {
      const registered = catalog.resources.get(uri)?.describe();
      files.set(uri, { ...registered, uri, name: lastOf(uri), size });
    }
  }
  return files;
}

/** Adds the resources in the folders of skills that are generated. */
async function addGenerated(files: Map<string, Resource>, skills: readonly Skill[], call: Call): Promise<void> {
  const folders = skills.map(({ uri }) => `${skillFolder(uri)}/`);
  for (const resource of await gatheredResources(call)) {
    if (!folders.some((folder) => resource.uri.startsWith(folder)) || files.has(resource.uri)) continue;
    files.set(resource.uri, { ...resource, name: lastOf(resource.uri) });
  }
}

/** What is directly in a folder: files, and folders that files are in. */
function childrenOf(folder: string, files: ReadonlyMap<string, Resource>): ReadonlyMap<string, Resource> {
  const children = new Map<string, Resource>();
  for (const [uri, file] of files) {
    if (!uri.startsWith(`${folder}/`)) continue;
    const slash = uri.indexOf('/', folder.length + 1);
    const child = slash === -1 ? uri : uri.slice(0, slash);
    children.set(child, slash === -1 ? file : { uri: child, name: lastOf(child), mimeType: folderType });
  }
  return children;
}

/** The last segment of a URI, decoded for people. */
function lastOf(uri: string): string {
  const segment = uri.slice(uri.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
