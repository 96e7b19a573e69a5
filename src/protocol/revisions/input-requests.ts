// Encodes input requests: forms, URLs, model calls. Older revisions get the closest form they support; what they cannot
// express is rejected with a message that the author of the handler can act on.

import { isObject } from '../json-rpc.ts';
import type { Capabilities, JsonObject, SamplingParams } from '../model.ts';
import type { Dialect } from './dialects.ts';

/** Either the params to send, or why this revision cannot express them. */
export type EncodedRequest =
  | { readonly ok: true; readonly params: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** The params of a form elicitation. */
export function encodeForm(message: string, schema: JsonObject, dialect: Dialect): EncodedRequest {
  if (dialect.elicitation === 'none') return { ok: false, reason: `elicitation is not supported in ${dialect.date}` };
  if (dialect.elicitation === 'full') {
    return { ok: true, params: { mode: 'form', message, requestedSchema: schema } };
  }
  const properties: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    if (!isObject(property)) continue;
    if (property['type'] === 'array') {
      return { ok: false, reason: `${dialect.date} has no multi-select fields (${name}); offer a simpler form` };
    }
    properties[name] = simplerField(property);
  }
  const { $schema: _, ...rest } = schema;
  return { ok: true, params: { message, requestedSchema: { ...rest, properties } } };
}

/** A form field without titled options, and without defaults except for booleans. */
function simplerField(property: JsonObject): JsonObject {
  const { default: initial, oneOf, ...field } = property as Record<string, unknown>;
  if (property['type'] === 'boolean' && initial !== undefined) field['default'] = initial;
  if (Array.isArray(oneOf)) {
    field['enum'] = oneOf.map((each) => (each as JsonObject)['const']);
    field['enumNames'] = oneOf.map((each) => (each as JsonObject)['title'] ?? (each as JsonObject)['const']);
  }
  return field;
}

/** The params of a URL elicitation. */
export function encodeUrl(message: string, url: string, elicitationId: string, dialect: Dialect): EncodedRequest {
  if (dialect.elicitation !== 'full') {
    return { ok: false, reason: `URL elicitation is not supported in ${dialect.date}` };
  }
  const params = { mode: 'url', message, url };
  return { ok: true, params: dialect.elicitationId ? { ...params, elicitationId } : params };
}

/** The params of a model call. */
export function encodeSampling(sampling: SamplingParams, dialect: Dialect, capabilities: Capabilities): EncodedRequest {
  const { tools, toolChoice, includeContext, messages, ...rest } = sampling;
  const params: Record<string, unknown> = { ...rest };
  if (tools !== undefined || toolChoice !== undefined) {
    if (!dialect.samplingTools) return { ok: false, reason: `sampling with tools is not supported in ${dialect.date}` };
    if (tools !== undefined) params['tools'] = tools;
    if (toolChoice !== undefined) params['toolChoice'] = toolChoice;
  }
  const declared = isObject(capabilities['sampling']) ? capabilities['sampling'] : {};
  // Servers may include more context only if the client declared support; older clients always support it.
  const mayWiden = !dialect.samplingTools || isObject(declared['context']);
  if (includeContext !== undefined && (includeContext === 'none' || mayWiden))
    params['includeContext'] = includeContext;
  const encoded: unknown[] = [];
  for (const { role, content, ...extra } of messages) {
    const one = oneBlock(content, dialect);
    if (typeof one === 'string') return { ok: false, reason: one };
    encoded.push(dialect.samplingTools ? { role, content: one, ...extra } : { role, content: one });
  }
  params['messages'] = encoded;
  return { ok: true, params };
}

type Blocks = SamplingParams['messages'][number]['content'];

/** Content as the revision can encode it, or why it cannot. */
function oneBlock(content: Blocks, dialect: Dialect): unknown {
  const blocks = (Array.isArray(content) ? content : [content]) as readonly { type: string; text?: string }[];
  if (!dialect.samplingAudio && blocks.some((each) => each.type === 'audio')) {
    return `sampling with audio is not supported in ${dialect.date}`;
  }
  if (dialect.samplingTools) return content;
  if (blocks.some((each) => each.type === 'tool_use' || each.type === 'tool_result')) {
    return `sampling with tool messages is not supported in ${dialect.date}`;
  }
  if (blocks.length === 1) return blocks[0];
  if (blocks.length > 1 && blocks.every((each) => each.type === 'text')) {
    return { type: 'text', text: blocks.map((each) => each.text).join('\n') };
  }
  return `a sampling message must have exactly one content block in ${dialect.date}`;
}
