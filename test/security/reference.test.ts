// The reference of the policy says what the code does: its example is a policy, and the schema beside it is the one used.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseYaml } from '../../src/common/parse-yaml.ts';
import { compilePolicy, explainCall, policySchema } from '../../src/security/policy/index.ts';

const reference = resolve(import.meta.dirname, '../../docs/reference');
const page = readFileSync(join(reference, 'policy.md'), 'utf8');

test('the example in the reference of the policy is one, and does what the comments say', async () => {
  const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const policy = compilePolicy(await parseYaml(example));
  const known = { issuer: 'https://id.example.com', scopes: ['mcp:execute'] };
  const decide = (question: Parameters<typeof explainCall>[1]) => explainCall(policy, question).decision;
  expect(decide({ principal: { id: 'guest-1', ...known }, tool: 'execute_command' })).toBe('deny');
  expect(decide({ principal: { id: 'ada', ...known }, tool: 'execute_command' })).toBe('allow');
  expect(decide({ principal: { id: 'ada', issuer: known.issuer }, tool: 'execute_command' })).toBe('step-up');
  expect(decide({ tool: 'search_web' })).toBe('deny');
  expect(decide({ resource: 'note://public/1' })).toBe('allow');
  const key = { deep: ['-----BEGIN RSA PRIVATE KEY-----'] };
  expect(decide({ principal: { id: 'ada', ...known }, tool: 'echo', args: key })).toBe('deny');
});

test('the published schema is the one that policies are checked by', () => {
  const published = JSON.parse(readFileSync(join(reference, 'policy.schema.json'), 'utf8'));
  expect(published).toEqual(JSON.parse(JSON.stringify(policySchema)));
});

test('every key of the schema is explained in the reference', () => {
  const words = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties } = value as { properties?: Record<string, unknown> };
    for (const name of Object.keys(properties ?? {})) words.add(name);
    for (const each of Object.values(value)) collect(each);
  };
  collect(policySchema);
  expect([...words].filter((word) => !page.includes(word))).toEqual([]);
});
