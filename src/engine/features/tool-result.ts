// Turns what a tool handler returned into a neutral result: text, content blocks, a whole result, or a value of its own.

import { isObject } from '../../protocol/json-rpc.ts';
import type { Content, ToolResult } from '../../protocol/model.ts';

const blockShapes: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource: ['resource'],
  resource_link: ['uri', 'name'],
};

function isContent(value: unknown): value is Content {
  if (!isObject(value) || typeof value['type'] !== 'string') return false;
  const shape = Object.hasOwn(blockShapes, value['type']) ? blockShapes[value['type']] : undefined;
  if (shape === undefined) return false;
  if (value['type'] === 'resource') return isObject(value['resource']) && typeof value['resource']['uri'] === 'string';
  return shape.every((key) => typeof value[key] === 'string');
}

function isContentList(value: unknown): value is readonly Content[] {
  return Array.isArray(value) && value.every(isContent);
}

/** A whole result: an object whose `content` is a list of blocks. */
function isToolResult(value: unknown): value is ToolResult {
  return isObject(value) && isContentList(value['content']);
}

/**
 * Converts a returned value. With an output schema, a string or content block is a value like any other; only a whole
 * result is used as such.
 */
export function toToolResult(returned: unknown, hasOutput: boolean, indent: number): ToolResult {
  if (isToolResult(returned)) return completed(returned, indent);
  if (!hasOutput) {
    if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }] };
    if (returned === undefined) return { content: [] };
    if (isContent(returned)) return { content: [returned] };
    if (Array.isArray(returned) && returned.length > 0 && isContentList(returned)) return { content: returned };
  }
  const value = returned === undefined ? null : returned;
  return { content: [{ type: 'text', text: toJson(value, indent) }], structuredContent: value };
}

/** Structured content always has a text copy, for clients that only read text. */
function completed(result: ToolResult, indent: number): ToolResult {
  if (result.structuredContent === undefined) return result;
  if (result.content.some((each) => each.type === 'text')) return result;
  const copy: Content = { type: 'text', text: toJson(result.structuredContent, indent) };
  return { ...result, content: [copy, ...result.content] };
}

function toJson(value: unknown, indent: number): string {
  const text = JSON.stringify(value, undefined, indent);
  if (text === undefined) throw new TypeError(`The tool returned a ${typeof value}, which JSON cannot represent`);
  return text;
}
