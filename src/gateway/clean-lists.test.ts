import { expect, test } from 'vitest';
import { cleanLists } from './clean-lists.ts';

const noLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };
const hidden = '\u{E0041}\u200B';

test('hidden characters are removed from every text a model reads, and names stay', () => {
  const { tools, prompts } = cleanLists({
    tools: [
      {
        name: `read${hidden}`,
        title: `Re${hidden}ad\n`,
        description: `Reads${hidden}`,
        inputSchema: { properties: { path: { description: `A${hidden} path` } } },
        icons: [{ src: 'file:///etc/passwd' }, { src: 'https://x.example/a.png' }],
      },
    ],
    prompts: [{ name: 'p', arguments: [{ name: 'a', description: `x${hidden}` }] }],
    resources: [],
    resourceTemplates: [],
  });
  expect(tools).toEqual([
    {
      name: `read${hidden}`,
      title: 'Read',
      description: 'Reads',
      inputSchema: { properties: { path: { description: 'A path' } } },
      icons: [{ src: 'https://x.example/a.png' }],
    },
  ]);
  expect(prompts[0]?.arguments).toEqual([{ name: 'a', description: 'x' }]);
});

test('instructions of servers are capped', () => {
  const { instructions } = cleanLists({ ...noLists, instructions: 'x'.repeat(5_000) });
  expect(instructions).toHaveLength(2_048);
});
