import { expect, test } from 'vitest';
import { printResult } from './print-content.ts';
import type { ToolResult } from './types.ts';

function printed(result: ToolResult): string {
  let text = '';
  const out = {
    width: undefined,
    write: (part: string) => (text += part),
    json: (value: unknown) => (text += JSON.stringify(value)),
  };
  printResult(result, { out: out as never, json: false, files: {} as never });
  return text;
}

const structuredContent = { n: 1 };
const summary = { type: 'text', text: 'about it', _meta: { 'mooring/summary': true } } as const;

test('structured content is printed if there is no text of it, or only a summary', () => {
  expect(printed({ content: [], structuredContent })).toBe('{"n":1}');
  expect(printed({ content: [summary], structuredContent })).toBe('{"n":1}');
});

test('text is printed instead of structured content', () => {
  expect(printed({ content: [{ type: 'text', text: 'one' }], structuredContent })).toBe('one\n');
  expect(printed({ content: [summary] })).toBe('about it\n');
});
