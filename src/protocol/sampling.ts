// What every conversation in a sampling request must keep to (2025-11-25 and 2026-07-28, Sampling, "Message Content
// Constraints"). Both sides check it: providers reject what breaks it, with errors that are hard to trace back.

import { isObject } from './json-rpc.ts';

/** What is wrong with the tool uses and tool results of a conversation; undefined if nothing is. */
export function samplingProblem(messages: readonly unknown[]): string | undefined {
  for (const [at, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const results = ofType(blocks, 'tool_result');
    if (results.length > 0 && (roleOf(message) !== 'user' || results.length < blocks.length)) {
      return `message ${at} mixes tool results with something else; a user message must contain only tool results`;
    }
    const used = roleOf(message) === 'assistant' ? ofType(blocks, 'tool_use') : [];
    if (used.length === 0) continue;
    const answered = new Set(ofType(blocksOf(messages[at + 1]), 'tool_result').map((each) => each['toolUseId']));
    const open = used.find((each) => !answered.has(each['id']));
    if (open !== undefined) {
      return `message ${at + 1} lacks the tool result for ${JSON.stringify(open['id'])}, which message ${at} uses`;
    }
  }
  return undefined;
}

type Block = { readonly [key: string]: unknown };

function blocksOf(message: unknown): readonly unknown[] {
  if (!isObject(message)) return [];
  const { content } = message;
  return Array.isArray(content) ? content : [content];
}

function roleOf(message: unknown): unknown {
  return isObject(message) ? message['role'] : undefined;
}

function ofType(blocks: readonly unknown[], type: string): readonly Block[] {
  return blocks.filter((each): each is Block => isObject(each) && each['type'] === type);
}
