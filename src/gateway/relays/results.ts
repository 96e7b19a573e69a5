// Results of upstreams as clients get them: URIs that would resolve to another server are qualified, reserved `_meta` is removed.
// A result in which nothing changes is the same object, and its text can be sent as it is. A result without the members that
// every encoding needs throws `invalid-result`, for clients of all revisions alike.

import { ClientError } from '../../client/index.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type {
  Completion,
  Content,
  JsonObject,
  PromptResult,
  ReadResult,
  ResourceContents,
  ToolResult,
} from '../../protocol/model.ts';
import { withExposedPage } from './app-page.ts';
import { withoutReserved } from './meta.ts';

/** A URI of the upstream as clients of the view see it. */
export type ExposeUri = (uri: string) => string;

export function mapToolResult(given: ToolResult, expose: ExposeUri): ToolResult {
  const result = checkMeta(given);
  const content = mapContents(result.content, expose);
  const meta = result._meta === undefined ? undefined : withExposedPage(result._meta, expose);
  if (content === result.content && meta === result._meta) return result;
  return { ...result, content, ...(meta === undefined ? {} : { _meta: meta }) };
}

/** Some servers write `null` for what they do not have. */
const isOptional = (value: unknown, type: 'string' | 'boolean' | 'object'): boolean =>
  (value ?? undefined) === undefined || (typeof value === type && !Array.isArray(value));

type WithMeta = { readonly _meta?: ToolResult['_meta'] };

function invalid(why: string): ClientError {
  return new ClientError('invalid-result', why);
}

/** Throws if `_meta` is not an object. Some servers write `null` for what they do not have. */
function checkMeta<T extends WithMeta>(result: T): T {
  const meta: unknown = result._meta;
  if (meta === undefined || isObject(meta)) return result;
  if (meta !== null) throw invalid('"_meta" is not an object');
  const { _meta, ...rest } = result;
  return rest as T;
}

export function withPlainMeta<T extends WithMeta>(result: T): T {
  const meta = withoutReserved(result._meta);
  if (meta === result._meta) return result;
  const { _meta, ...rest } = result;
  return (meta === undefined ? rest : { ...rest, _meta: meta }) as T;
}

function mapContents(blocks: readonly Content[], expose: ExposeUri): readonly Content[] {
  let mapped: Content[] | undefined;
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i] as Content;
    const next = mapBlock(block, expose);
    if (next !== block) (mapped ??= [...blocks])[i] = next;
  }
  return mapped ?? blocks;
}

/** Throws if the block lacks what its type requires. Blocks of other types are passed on. */
function mapBlock(block: Content, expose: ExposeUri): Content {
  if (!isObject(block)) throw invalid('A content block is not an object');
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw invalid('The "text" of a content block is not a string');
      return block;
    case 'image':
    case 'audio':
      if (typeof block.data !== 'string' || typeof block.mimeType !== 'string') {
        throw invalid(`The "data" or "mimeType" of a content block of type ${block.type} is not a string`);
      }
      return block;
    case 'resource': {
      const resource = mapResource(block.resource, expose);
      return resource === block.resource ? block : { ...block, resource };
    }
    case 'resource_link': {
      if (typeof block.uri !== 'string' || typeof block.name !== 'string') {
        throw invalid('The "uri" or "name" of a resource link is not a string');
      }
      const uri = expose(block.uri);
      return uri === block.uri ? block : { ...block, uri };
    }
    default:
      if (typeof (block as { readonly type?: unknown }).type !== 'string') {
        throw invalid('The "type" of a content block is not a string');
      }
      return block;
  }
}

function mapResource(resource: ResourceContents, expose: ExposeUri): ResourceContents {
  if (!isObject(resource) || typeof resource.uri !== 'string') {
    throw invalid('The contents of a resource are not an object with a "uri"');
  }
  const { text, blob, mimeType } = resource;
  if (!isOptional(text, 'string') || !isOptional(blob, 'string') || (text ?? blob ?? undefined) === undefined) {
    throw invalid('The contents of a resource have neither a "text" nor a "blob" that is a string');
  }
  if (!isOptional(mimeType, 'string')) throw invalid('The "mimeType" of a resource is not a string');
  if (!isOptional(resource._meta, 'object')) throw invalid('The "_meta" of a resource is not an object');
  const uri = expose(resource.uri);
  return uri === resource.uri ? resource : { ...resource, uri };
}

/** Cache hints of the upstream are passed on; without any, the result is cached for this caller only. */
export function mapReadResult(result: ReadResult, expose: ExposeUri, isPrivate: boolean): ReadResult {
  const { contents, _meta, ttlMs, cacheScope } = checkMeta(result) as ReadResult & {
    ttlMs?: unknown;
    cacheScope?: unknown;
  };
  const scope = cacheScope === 'public' && !isPrivate ? 'public' : 'private';
  const meta = withoutReserved(_meta);
  return {
    contents: contents.map((each) => mapResource(each, expose)),
    ...(typeof ttlMs === 'number' && ttlMs >= 0 ? { cache: { ttlMs, cacheScope: scope } } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

export function mapPromptResult(result: PromptResult, expose: ExposeUri): PromptResult {
  const { messages, description } = result;
  if (!messages.every((each) => isObject(each) && typeof each.role === 'string')) {
    throw invalid('A message of the prompt is not an object with a "role"');
  }
  if (typeof (description ?? '') !== 'string') throw invalid('The "description" of the prompt is not a string');
  const mapped = messages.map((message) => ({ ...message, content: mapBlock(message.content, expose) }));
  return withPlainMeta(checkMeta({ ...result, messages: mapped }));
}

export function checkCompletion(completion: Completion): Completion {
  const { values, total, hasMore } = completion;
  if (!values.every((value) => typeof value === 'string')) throw invalid('A value of the completion is not a string');
  if (!Number.isInteger(total ?? 0)) throw invalid('The "total" of the completion is not an integer');
  if (!isOptional(hasMore, 'boolean')) throw invalid('The "hasMore" of the completion is not a boolean');
  return completion;
}

/** The result of a method that the gateway does not know. */
export function mapOtherResult(result: JsonObject): JsonObject {
  const { resultType: _type, ...rest } = result as WithMeta & { readonly resultType?: unknown };
  return withPlainMeta(checkMeta(rest));
}
