import { expect, test } from 'vitest';
import { parseFrontmatter } from './parse-yaml.ts';

test.each([
  ['---\nname: a\ndescription: "b: c"\n---\n# Text\n---\nmore', { name: 'a', description: 'b: c' }],
  ['\uFEFF---\r\nname: a\r\n---\r\ntext', { name: 'a' }],
  [
    '---\nname: a\nmetadata:\n  version: "1.0"\n  when: 2026-01-01\n---',
    { name: 'a', metadata: { version: '1.0', when: '2026-01-01' } },
  ],
])('the YAML at the beginning of %j', async (text, expected) => {
  expect(await parseFrontmatter(text)).toEqual(expected);
});

test.each([
  ['', 'does not begin with YAML'],
  ['# Text\n---\nname: a\n---\n', 'does not begin with YAML'],
  ['---\nname: a\n', 'does not begin with YAML'],
  [`---\nname: ${'x'.repeat(20_000)}\n---\n`, 'in its first 16384 characters'],
  ['---\n- a\n---\n', 'not a set of names'],
  ['---\n---\n', 'not a set of names'],
  ['---\nname: a\nname: b\n---\n', 'Map keys must be unique'],
  ['---\nname: &a x\nb: *a\n---\n', 'Alias'],
])('%j is an error', async (text, message) => {
  await expect(parseFrontmatter(text)).rejects.toThrow(message);
});
