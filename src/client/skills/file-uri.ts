// Finds the URI of a file of a skill.

import { isInFolder, type Skill, skillFolder } from '../../protocol/skills.ts';

/**
 * The URI of a file that is given as its URI or as a path in the folder of the skill. Undefined if the entry does not list it
 * and, for a skill without a list, if it is not in its folder.
 */
export function resolveSkillFile(skill: Skill, file: string): string | undefined {
  const folder = skillFolder(skill.uri);
  // Links in Markdown can name a section.
  const [withoutSection = ''] = file.split('#', 1);
  const uri = toUri(folder, withoutSection);
  const { resources } = skill;
  if (resources === 'dynamic') return uri !== undefined && isInFolder(uri, folder) ? uri : undefined;
  const uris = resources.map((each) => each.uri);
  return listed(uris, toUri(folder, file)) ?? listed(uris, uri);
}

/** Entries and links may differ in what they percent-encode. */
function listed(uris: readonly string[], uri: string | undefined): string | undefined {
  if (uri === undefined || uris.includes(uri)) return uri;
  const decoded = decode(uri);
  return uris.find((each) => decode(each) === decoded);
}

/** A path resolved as in a file system, undefined if it leads out of the folder; a URI as it is. */
function toUri(folder: string, path: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return path;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  const encoded = segments.map(encode);
  return path.startsWith('/') || encoded.includes(undefined) ? undefined : [folder, ...encoded].join('/');
}

/** Encodes what a segment of a URI cannot contain; what is encoded already stays so. */
function encode(segment: string): string | undefined {
  try {
    return segment.replace(/[^\w.~!$&'()*+,;=:@%-]+/g, encodeURIComponent);
  } catch {
    return undefined; // Half of a surrogate pair: no file has such a name.
  }
}

/** A URI for comparison: each segment decoded, so that an encoded slash is not one between segments. */
function decode(uri: string): string {
  return uri.split('/').map(decodeSegment).join('\0');
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // A lone percent sign.
  }
}
