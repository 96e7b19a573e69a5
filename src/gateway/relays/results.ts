// Results of upstreams as clients get them: URIs that would resolve to another server are qualified, reserved `_meta` is removed.
// A result in which nothing changes is the same object, and its text can be sent as it is.

import { ClientError } from '../../client/index.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Content, PromptResult, ReadResult, ResourceContents, ToolResult } from '../../protocol/model.ts';
import { withExposedPage } from './app-page.ts';
import { withoutReserved } from './meta.ts';

/** A URI of the upstream as clients of the view see it. */
export type ExposeUri = (uri: string) => string;

export function mapToolResult(result: ToolResult, expose: ExposeUri): ToolResult {
  const content = mapContents(result.content, expose);
  const meta = result._meta === undefined ? undefined : withExposedPage(result._meta, expose);
  if (content === result.content && meta === result._meta) return result;
  return { ...result, content, ...(meta === undefined ? {} : { _meta: meta }) };
}

export function withPlainMeta<T extends { readonly _meta?: ToolResult['_meta'] }>(result: T): T {
  const meta = withoutReserved(result._meta);
  if (meta === result._meta) return result;
  const { _meta, ...rest } = result;
  return (meta === undefined ? rest : { ...rest, _meta: meta }) as T;
}

/** Throws if a block is not even an object: it could not be encoded for another revision. */
function mapContents(blocks: readonly Content[], expose: ExposeUri): readonly Content[] {
  let mapped: Content[] | undefined;
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i] as Content;
    if (!isObject(block) || typeof block.type !== 'string') {
      throw new ClientError('invalid-result', 'A content block is not an object with a type');
    }
    const next = mapBlock(block, expose);
    if (next !== block) (mapped ??= [...blocks])[i] = next;
  }
  return mapped ?? blocks;
}

function mapBlock(block: Content, expose: ExposeUri): Content {
  if (block.type === 'resource_link' && typeof block.uri === 'string') {
    const uri = expose(block.uri);
    return uri === block.uri ? block : { ...block, uri };
  }
  if (block.type === 'resource' && isObject(block.resource)) {
    const resource = mapResource(block.resource, expose);
    return resource === block.resource ? block : { ...block, resource };
  }
  return block;
}

function mapResource(resource: ResourceContents, expose: ExposeUri): ResourceContents {
  if (typeof resource.uri !== 'string') return resource;
  const uri = expose(resource.uri);
  return uri === resource.uri ? resource : { ...resource, uri };
}

/** Cache hints of the upstream are passed on; without any, the result is cached for this caller only. */
export function mapReadResult(result: ReadResult, expose: ExposeUri, isPrivate: boolean): ReadResult {
  const { contents, _meta, ttlMs, cacheScope } = result as ReadResult & { ttlMs?: unknown; cacheScope?: unknown };
  if (!contents.every(isObject)) throw new ClientError('invalid-result', 'One of the contents is not an object');
  const scope = cacheScope === 'public' && !isPrivate ? 'public' : 'private';
  const meta = withoutReserved(_meta);
  return {
    contents: contents.map((each) => mapResource(each, expose)),
    ...(typeof ttlMs === 'number' && ttlMs >= 0 ? { cache: { ttlMs, cacheScope: scope } } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

export function mapPromptResult(result: PromptResult, expose: ExposeUri): PromptResult {
  const { messages } = result;
  if (!messages.every((each) => isObject(each) && isObject(each.content))) {
    throw new ClientError('invalid-result', 'A message of the prompt has no content');
  }
  const mapped = messages.map((message) => ({ ...message, content: mapBlock(message.content, expose) }));
  return withPlainMeta({ ...result, messages: mapped });
}
