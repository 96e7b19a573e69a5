// Encodes content blocks and items for a revision: fields it lacks are left out, blocks it lacks are replaced by the
// closest ones it has.

import { isObject } from '../json-rpc.ts';
import type { Content, Prompt, Resource, ResourceContents, ResourceTemplate, Tool } from '../model.ts';
import type { Dialect } from './dialects.ts';

type Fields = Record<string, unknown>;

/** Copies the named fields that are present. */
export function pick(from: object, keys: readonly string[]): Fields {
  const to: Fields = {};
  for (const key of keys) {
    const value = (from as Fields)[key];
    if (value !== undefined) to[key] = value;
  }
  return to;
}

function withAnnotations(fields: Fields, dialect: Dialect): Fields {
  if (fields['annotations'] === undefined) return fields;
  const { annotations: given } = fields;
  const annotations = isObject(given) ? pick(given, dialect.annotations) : {};
  // If the revision has none of them, the object is left out. Some servers write `null`.
  if (Object.keys(annotations).length > 0) fields['annotations'] = annotations;
  else delete fields['annotations'];
  return fields;
}

const blockKeys = {
  text: ['type', 'text', 'annotations', '_meta'],
  image: ['type', 'data', 'mimeType', 'annotations', '_meta'],
  audio: ['type', 'data', 'mimeType', 'annotations', '_meta'],
  resource: ['type', 'resource', 'annotations', '_meta'],
} as const;

function block(from: object, keys: readonly string[], dialect: Dialect): Fields {
  const fields = withAnnotations(pick(from, keys), dialect);
  if (!dialect.contentMeta) delete fields['_meta'];
  return fields;
}

/** One content block as the revision encodes it. `flat`: the resource's fields are beside `type`. */
export function encodeContent(content: Content, dialect: Dialect, flat = false): Fields {
  switch (content.type) {
    case 'audio':
      return dialect.audio ? block(content, blockKeys.audio, dialect) : audioAsResource(content, dialect);
    case 'resource': {
      const resource = encodeResourceContents(content.resource, dialect);
      if (flat) return { type: 'resource', ...resource };
      return block({ ...content, resource }, blockKeys.resource, dialect);
    }
    case 'resource_link':
      if (!dialect.resourceLink) return { type: 'text', text: linkAsText(content) };
      return withAnnotations(pick(content, ['type', ...dialect.resource]), dialect);
    default:
      // A block of another server that this library does not know is passed on.
      return Object.hasOwn(blockKeys, content.type)
        ? block(content, blockKeys[content.type], dialect)
        : { ...(content as object) };
  }
}

/** JSON of a list of blocks. A single plain text is by far the most common and is concatenated directly. */
export function contentText(blocks: readonly Content[], dialect: Dialect, flat = false): string {
  if (blocks.length === 1) {
    const only = blocks[0] as Content;
    // A handler without types may leave the text out, which would not be JSON.
    const isPlain = only.type === 'text' && only.annotations === undefined && only._meta === undefined;
    if (isPlain && typeof only.text === 'string') {
      return `[{"type":"text","text":${JSON.stringify(only.text)}}]`;
    }
  }
  return JSON.stringify(blocks.map((each) => encodeContent(each, dialect, flat)));
}

export function encodeResourceContents(contents: ResourceContents, dialect: Dialect): Fields {
  const keys = ['uri', 'mimeType', 'text', 'blob'];
  return pick(contents, dialect.contentMeta ? [...keys, '_meta'] : keys);
}

function audioAsResource(audio: { data: string; mimeType: string; annotations?: object }, dialect: Dialect): Fields {
  const subtype = /\/([\w.-]+)/.exec(audio.mimeType)?.[1] ?? 'bin';
  const resource = {
    uri: `audio://inline/${digest(audio.data)}.${subtype}`,
    mimeType: audio.mimeType,
    blob: audio.data,
  };
  return block({ type: 'resource', resource, annotations: audio.annotations }, blockKeys.resource, dialect);
}

/** A short stable name for a blob (FNV-1a); it only has to differ between the blobs of one response. */
function digest(data: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < data.length; i++) hash = Math.imul(hash ^ data.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

function linkAsText(link: Resource): string {
  return `${link.title ?? link.name}: ${link.uri}${link.mimeType === undefined ? '' : ` (${link.mimeType})`}`;
}

function withoutDialect(schema: object): object {
  const { $schema: _, ...rest } = schema as Fields;
  return rest;
}

/** A tool as the revision lists it; `outputSchema` is already in a form that the revision supports. */
export function encodeTool(tool: Tool, dialect: Dialect): Fields {
  const fields = pick(tool, dialect.tool);
  if (!dialect.schemaDialect) {
    for (const key of ['inputSchema', 'outputSchema']) {
      if (fields[key] !== undefined) fields[key] = withoutDialect(fields[key] as object);
    }
  }
  if (dialect.tool.includes('annotations')) {
    // Revisions that have hints but no `title` on tools carry the title among the hints.
    const title = dialect.tool.includes('title') ? tool.annotations?.title : (tool.annotations?.title ?? tool.title);
    const annotations = pick({ ...tool.annotations, title }, dialect.toolAnnotations);
    if (Object.keys(annotations).length > 0) fields['annotations'] = annotations;
    else delete fields['annotations'];
  }
  return fields;
}

export function encodeResource(resource: Resource, dialect: Dialect): Fields {
  return withAnnotations(pick(resource, dialect.resource), dialect);
}

export function encodeResourceTemplate(template: ResourceTemplate, dialect: Dialect): Fields {
  return withAnnotations(pick(template, dialect.template), dialect);
}

export function encodePrompt(prompt: Prompt, dialect: Dialect): Fields {
  const fields = pick(prompt, dialect.prompt);
  if (prompt.arguments) fields['arguments'] = prompt.arguments.map((each) => pick(each, dialect.promptArgument));
  return fields;
}
