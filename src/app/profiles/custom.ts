// Profile `custom`: nothing of its own, only what settings add to any profile.

import { createServer } from '../../engine/server.ts';
import { UsageError } from '../usage-error.ts';
import type { Profile } from './profile.ts';

export const customProfile: Profile = {
  name: 'custom',
  assemble({ logger, version, settings, persistentState }) {
    const { openapi, skills, plugins } = settings;
    if (openapi === undefined && skills.length === 0 && plugins.length === 0) {
      throw new UsageError(
        'The profile custom offers nothing by itself. Add --openapi FILE|URL, --skills DIR, or plugins in mooring.json',
      );
    }
    return { server: createServer({ name: 'mooring', title: 'Mooring', version, logger, ...persistentState }) };
  },
};
