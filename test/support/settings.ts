// A profile put together as the command line does it, with settings of the test's own.

import type { AssembledServer, Profile } from '../../src/app/profiles/profile.ts';
import type { Settings } from '../../src/app/settings/settings.ts';
import { silentLogger } from '../../src/common/logger.ts';

export function settings(changes: Partial<Settings> = {}): Settings {
  return {
    profile: 'test',
    dataDir: '/nonexistent',
    roots: [],
    skills: [],
    allowedCommands: undefined,
    enable: { commands: false, workers: false },
    audit: undefined,
    packs: {},
    plugins: [],
    ...changes,
  };
}

export async function assemble(profile: Profile, changes: Partial<Settings> = {}): Promise<AssembledServer> {
  return profile.assemble({ logger: silentLogger, version: '0.0.0', settings: settings(changes) });
}
