// Profile `everything`: a test peer that follows the specification.

import { createServer } from '../../engine/server.ts';
import { everything } from '../../packs/everything/index.ts';
import type { Profile } from './profile.ts';

export const everythingProfile: Profile = {
  name: 'everything',
  async assemble({ logger, version, persistentState }) {
    const server = createServer({
      name: 'mooring-everything',
      title: 'Mooring: everything',
      version,
      instructions: 'A test peer: every tool, resource and prompt here exercises one feature of the protocol.',
      logger,
      ...persistentState,
    });
    await server.use(everything());
    return { server };
  },
};
