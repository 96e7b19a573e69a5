// What a policy does to the settings of a run: it only ever takes away.

import { expect, test } from 'vitest';
import { boundSettings } from '../../src/app/settings/policy.ts';
import type { Settings } from '../../src/app/settings/settings.ts';
import { compilePolicy, type Policy } from '../../src/security/policy/index.ts';
import { settings } from '../support/settings.ts';

const bound = (changes: Partial<Settings>, policy: Omit<Policy, 'version'>): Settings =>
  boundSettings(settings({ profile: 'orchestrator', ...changes }), compilePolicy({ version: 1, ...policy }));

test('workers may change what the policy lets tools write, and only see the rest', () => {
  const { packs, roots } = bound({}, { files: { read: ['/docs'], write: ['/drafts'] } });
  expect(roots).toEqual(['/docs', '/drafts']);
  expect(packs['workers']).toEqual({ writable: ['/drafts'], readOnly: ['/docs'] });
});

test('folders of workers outside of the policy are a mistake', () => {
  const files = { read: ['/docs'], write: ['/drafts'] };
  for (const workers of [{ writable: ['/docs'] }, { writable: ['/drafts-of-others'] }, { readOnly: ['/etc'] }]) {
    expect(() => bound({ packs: { workers } }, { files }), JSON.stringify(workers)).toThrow(
      'is not allowed by the policy',
    );
  }
  const workers = { writable: ['/drafts/a'], readOnly: ['/docs/b'], maxAlive: 3 };
  expect(bound({ packs: { workers } }, { files }).packs['workers']).toEqual(workers);
});

test('the network and the level of workers are those of the policy', () => {
  const workers = { network: 'host', level: 'none' };
  const commands = { programs: ['ls'], level: 'kernel' } as const;
  expect(() => bound({ packs: { workers } }, { commands })).toThrow('does not allow');
  const allowed = bound({ packs: { workers } }, { commands: { ...commands, network: 'host' } });
  expect(allowed.packs['workers']).toMatchObject({ network: 'host', level: 'kernel' });
  expect(allowed.allowedCommands).toEqual(['ls']);
});

test('a policy without rules for files and commands leaves packs as they are', () => {
  const packs = { workers: { network: 'host' } };
  expect(bound({ packs }, { limits: {} }).packs).toEqual(packs);
});
