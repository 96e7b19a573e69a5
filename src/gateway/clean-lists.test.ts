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
      inputSchema: { type: 'object', properties: { path: { description: 'A path' } } },
      icons: [{ src: 'https://x.example/a.png' }],
    },
  ]);
  expect(prompts[0]?.arguments).toEqual([{ name: 'a', description: 'x' }]);
});

test('descriptions and instructions are capped, but not those of the length that common servers have', () => {
  const textsOf = (length: number): (string | undefined)[] => {
    const text = 'x'.repeat(length);
    const tool = { name: 'a', description: text, inputSchema: { type: 'object' } } as const;
    const { tools, instructions } = cleanLists({ ...noLists, tools: [tool], instructions: text });
    return [tools[0]?.description, instructions];
  };
  expect(textsOf(10_000).map((each) => each?.length)).toEqual([10_000, 10_000]);
  expect(textsOf(20_000).map((each) => each?.length)).toEqual([16_384, 16_384]);
});

test('members that are not valid are left out, and the items stay', () => {
  const lists = {
    tools: [
      {
        name: 'a',
        title: 5,
        description: null,
        icons: [null, { src: 1 }, { src: 'https://x.example/a.png' }],
        annotations: { title: 1, readOnlyHint: 'yes', idempotentHint: true },
        inputSchema: { type: ['object', 'null'], properties: [], required: 'x' },
        outputSchema: null,
        _meta: 'x',
      },
      { name: 'b', icons: null, annotations: null, execution: null, inputSchema: {} },
    ],
    prompts: [
      { name: 'p', arguments: [null, { name: 1 }, { name: 'x', description: null, required: 1 }] },
      { name: 'q', arguments: {} },
    ],
    resources: [{ uri: 'x:a', name: 'a', size: '1', mimeType: null, annotations: [] }],
    resourceTemplates: [{ uriTemplate: 'x:{a}', name: 'a', icons: {} }],
  };
  expect(cleanLists(lists as unknown as Parameters<typeof cleanLists>[0])).toEqual({
    tools: [
      {
        name: 'a',
        icons: [{ src: 'https://x.example/a.png' }],
        annotations: { idempotentHint: true },
        inputSchema: { type: 'object' },
      },
      { name: 'b', inputSchema: { type: 'object' } },
    ],
    prompts: [{ name: 'p', arguments: [{ name: 'x' }] }, { name: 'q' }],
    resources: [{ uri: 'x:a', name: 'a' }],
    resourceTemplates: [{ uriTemplate: 'x:{a}', name: 'a' }],
  });
});
