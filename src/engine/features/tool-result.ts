// Turns what a tool handler returned into a neutral result: text, content blocks, a whole result, or a value of its own.

import { isObject } from '../../protocol/json-rpc.ts';
import type { Content, ToolResult } from '../../protocol/model.ts';
import type { ToolDefinition } from '../definitions.ts';
import { lostValue, notJson } from './not-json.ts';
import { shortCopy } from './short-copy.ts';

type TextCopy = ToolDefinition['textCopy'];

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
  if (value['type'] === 'resource') return isResourceContents(value['resource']);
  return shape.every((key) => typeof value[key] === 'string');
}

function isResourceContents(value: unknown): boolean {
  return isObject(value) && typeof value['uri'] === 'string' && typeof (value['text'] ?? value['blob']) === 'string';
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
export function toToolResult(
  returned: unknown,
  hasOutput: boolean,
  indent: number,
  textCopy: TextCopy = 'always',
): ToolResult {
  if (isToolResult(returned)) return completed(returned, indent, textCopy);
  if (!hasOutput) {
    if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }] };
    if (returned === undefined) return { content: [] };
    if (isContent(returned)) return { content: [returned] };
    if (Array.isArray(returned) && returned.length > 0 && isContentList(returned)) return { content: returned };
    // As a value of its own, it would be the result of a call that succeeded.
    if (isObject(returned) && returned['isError'] === true && 'content' in returned) throw malformedFailure();
  }
  const value = returned === undefined ? null : returned;
  const lost = lostValue(value);
  if (lost !== undefined) throw lost;
  if (textCopy !== 'always') return { content: copyOf(value, indent, textCopy), structuredContent: value };
  return { content: [{ type: 'text', text: toJson(value, indent) }], structuredContent: value };
}

function malformedFailure(): TypeError {
  return new TypeError(
    'The tool returned "isError" with a "content" that is not a list of content blocks; ' +
      'return { isError: true, content: [text("…")] }, or throw new UserError("…")',
  );
}

/** Structured content has a text copy, for clients that only read text. That of a failure is always whole. */
function completed(result: ToolResult, indent: number, textCopy: TextCopy): ToolResult {
  if (result.structuredContent === undefined) return result;
  if (result.content.some((each) => each.type === 'text')) return result;
  const copy = copyOf(result.structuredContent, indent, result.isError === true ? 'always' : textCopy);
  return { ...result, content: [...copy, ...result.content] };
}

/** Where a revision has no structured content, its codec adds what is missing here. */
function copyOf(value: unknown, indent: number, textCopy: TextCopy): Content[] {
  if (textCopy === 'never') {
    if (!isJson(value)) throw notJson(value);
    return [];
  }
  if (textCopy === 'short') return [shortCopy(value, toJson(value, 0))];
  return [{ type: 'text', text: toJson(value, indent) }];
}

function isJson(value: unknown): boolean {
  return typeof value !== 'function' && typeof value !== 'symbol';
}

function toJson(value: unknown, indent: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, undefined, indent);
  } catch (cause) {
    throw notJson(value, cause);
  }
  if (text === undefined) throw notJson(value);
  return text;
}
