// The profiles that are fuzzed, each with its own home folder, and what is needed to connect to them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const profileNames = [
  'everything',
  'local',
  'clipboard',
  'empirical',
  'orchestrator',
  'reference',
  'secure-local',
  'system',
] as const;
export type ProfileName = (typeof profileNames)[number];

const allRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const revisions: Partial<Record<ProfileName, readonly string[]>> = {
  clipboard: ['2024-11-05'],
  empirical: ['2024-11-05'],
  orchestrator: ['2024-11-05'],
  reference: ['2024-11-05'],
  'secure-local': ['2025-11-25'],
  system: ['2024-11-05'],
};

/** The revisions that `initialize` of a profile accepts. */
export const revisionsOf = (profile: ProfileName): readonly string[] => revisions[profile] ?? allRevisions;

/** With their rate limits these profiles would reject nearly everything before looking at it. */
const limited: readonly ProfileName[] = ['orchestrator', 'secure-local', 'system'];

/** An empty home, so that no run sees the data of another or of the person at the keyboard. */
export function makeHome(profile: ProfileName): { readonly path: string; readonly args: string[]; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'mooring-fuzz-'));
  const config = join(path, 'mooring.json');
  const limits = { limits: { requests: 1_000_000, windowMs: 1_000 } };
  writeFileSync(config, JSON.stringify(limited.includes(profile) ? { packs: limits } : {}));
  return {
    path,
    args: ['--config', config, '--data', join(path, 'data')],
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}
