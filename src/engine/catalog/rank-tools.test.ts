import { expect, test } from 'vitest';
import { rankTools } from './rank-tools.ts';

const candidates = Array.from({ length: 5_000 }, (_, n) => ({
  name: `tool_${n}`,
  description: `Does thing number ${n}, and many other things that it describes in a sentence of some length.`,
  category: 'all',
  inputSchema: { type: 'object', properties: { path: {}, text: {} } },
}));

test('a query counts each word once, and only so many words', async () => {
  const [first] = await rankTools(candidates, 'number 317 number number');
  expect(first?.name).toBe('tool_317');
  const words = Array.from({ length: 100 }, (_, n) => `q${n}`);
  expect(await rankTools(candidates, [...words, '317'].join(' '))).toEqual([]);
  expect((await rankTools(candidates, ['317', ...words].join(' ')))[0]?.name).toBe('tool_317');
});

test('tools that match equally well stay in their order', async () => {
  const found = await rankTools(candidates, 'thing');
  expect(found).toEqual(candidates);
});

test('a search among thousands of tools lets others run in between', async () => {
  let turns = 0;
  let ended = false;
  const count = (): void => {
    turns++;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  await rankTools([...candidates, ...candidates, ...candidates, ...candidates], 'number describes sentence length');
  ended = true;
  expect(turns).toBeGreaterThan(2);
});
