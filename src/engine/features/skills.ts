// skills/list, skills/get and resources/directory/read: the skills of a server, and the folders of their files.

import { wireErrors } from '../../protocol/errors.ts';
import type { Resource } from '../../protocol/model.ts';
import { type Skill, skillFolder } from '../../protocol/skills.ts';
import { isVisible } from '../catalog/catalog-entry.ts';
import type { ListItem } from '../catalog/lists.ts';
import type { Call, Feature } from '../contract.ts';
import { gatheredResources } from './resources.ts';

export const listSkills: Feature<string> = {
  run: (call) => call.server.lists.page('skills', call),
  encode: (page, { server }) => server.lists.encode(page),
};

export const getSkill: Feature<string> = {
  run(call) {
    const uri = call.params['uri'] as string;
    const entry = call.catalog.skills.get(uri);
    if (entry === undefined || !isVisible(entry, call.peer.principal)) throw wireErrors.unknownSkill(uri);
    return call.codec.skill(entry.describe(), call.server.lists.hintFor(call.catalog));
  },
  encode: (text) => text,
};

/** The type of a folder among resources. */
const folderType = 'inode/directory';

export const readDirectory: Feature<string> = {
  duration: 'handler',
  async run(call) {
    const uri = call.params['uri'] as string;
    const isFolderUri = /^[^:]+:\/\/[^/]/.test(uri);
    const children = isFolderUri ? childrenOf(uri, await filesOf(call)) : undefined;
    if (children === undefined || children.size === 0) throw wireErrors.notAFolder(uri);
    const rows = [...children.values()].map((item): ListItem<'resources'> => ({ key: item.uri, item }));
    return call.server.lists.pageOf('resources', call, rows, uri);
  },
  encode: (text) => text,
};

/** The files of all skills that the caller may see, by URI. */
async function filesOf(call: Call): Promise<ReadonlyMap<string, Resource>> {
  const { catalog, peer } = call;
  const skills: Skill[] = [];
  for (const entry of catalog.skills.values()) {
    if (isVisible(entry, peer.principal)) skills.push(entry.describe());
  }
  const files = new Map<string, Resource>();
  for (const { resources } of skills) {
    if (resources === 'dynamic') continue;
    for (const { uri, size } of resources) {
      const registered = catalog.resources.get(uri)?.describe();
      files.set(uri, { ...registered, uri, name: lastOf(uri), size });
    }
  }
  const generated = skills.filter(({ resources }) => resources === 'dynamic').map(({ uri }) => `${skillFolder(uri)}/`);
  if (generated.length === 0) return files;
  for (const resource of await gatheredResources(call)) {
    if (!generated.some((folder) => resource.uri.startsWith(folder)) || files.has(resource.uri)) continue;
    files.set(resource.uri, { ...resource, name: lastOf(resource.uri) });
  }
  return files;
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
