import { expect, test } from 'vitest';
import { cleanLists, joinInstructions } from './clean-lists.ts';
import { metaForUpstream } from './request-meta.ts';

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

test('instructions of servers are labelled and capped, each and together', () => {
  const long = 'x'.repeat(5_000);
  const servers = Array.from({ length: 20 }, (_, i) => ({ slug: `s${i}`, instructions: long }));
  const text = joinInstructions('Own', servers) ?? '';
  expect(text.startsWith('Own\n\n## s0\n')).toBe(true);
  expect(text.length).toBeLessThanOrEqual(16_384);
  expect(text.split('\n\n')[1]?.length).toBeLessThanOrEqual(2_048 + '## s0\n'.length);
  expect(joinInstructions(undefined, [{ slug: 'a' }])).toBeUndefined();
});

test('of the _meta of a client only the trace context goes on', () => {
  const meta = {
    traceparent: '00-1',
    progressToken: 1,
    'io.modelcontextprotocol/clientInfo': {},
    secret: 'x',
    baggage: 7,
  };
  expect(metaForUpstream(meta)).toEqual({ traceparent: '00-1' });
});
