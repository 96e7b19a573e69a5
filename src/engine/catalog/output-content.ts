// Finds output schemas whose values look like whole tool results (`{ content: [ …blocks ] }`, see features/tool-result.ts).

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonSchema } from '../../schema/index.ts';

/** Whether a schema has a property `content` that is a list. An empty list is a list of blocks, whatever its items. */
export function hasContentList(schema: JsonSchema | undefined): boolean {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  const content = isObject(properties) && Object.hasOwn(properties, 'content') ? properties['content'] : undefined;
  return isObject(content) && [content['type']].flat().includes('array');
}
