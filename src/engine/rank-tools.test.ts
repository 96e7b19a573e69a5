import { expect, test } from 'vitest';
import { rankTools } from './rank-tools.ts';

const candidates = Array.from({ length: 5_000 }, (_, n) => ({
  name: `tool_${n}`,
  description: `Does thing number ${n}, and many other things that it describes in a sentence of some length.`,
  category: 'all',
  inputSchema: { type: 'object', properties: { path: {}, text: {} } },
}));

test('a query counts each word once, and only so many words', () => {
  const [first] = rankTools(candidates, 'number 317 number number');
  expect(first?.name).toBe('tool_317');
  const words = Array.from({ length: 100 }, (_, n) => `q${n}`);
  expect(rankTools(candidates, [...words, '317'].join(' '))).toEqual([]);
  expect(rankTools(candidates, ['317', ...words].join(' '))[0]?.name).toBe('tool_317');
});
