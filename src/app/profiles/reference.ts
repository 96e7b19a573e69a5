// Profile `reference`: an HTTP server for revision 2024-11-05 with its own routes, session header and error texts, as
// described in docs/profiles/reference.md. Stateless requests follow the official rules.

import { createServer } from '../../engine/server.ts';
import { type ReferenceOptions, reference, referenceSchema } from '../../packs/reference/index.ts';
import type { Rules } from '../../protocol/rules.ts';
import { useData } from './data.ts';
import { packOptions } from './pack-options.ts';
import type { Profile } from './profile.ts';

const rules: Rules = {
  handshakeVersions: ['2024-11-05'],
  errors: {
    invalidArguments: 'error',
    resourceNotFound: 'invalidParams',
    toolText: (message) => `Error: ${message}`,
  },
};

export const referenceProfile: Profile = {
  name: 'reference',
  async assemble({ logger, settings, health, persistentState }) {
    const server = createServer({
      name: 'mcp-server',
      version: '1.0.0',
      rules,
      logging: false,
      logger,
      ...persistentState,
    });
    const limits = await packOptions<ReferenceOptions>(settings, 'reference', referenceSchema);
    const data = await useData(server, settings.dataDir, { logger, health, limits });
    // Opened at start-up: without its store this server must not start.
    const { notes } = await data.open();
    // The tools of this profile are fixed, so notes are deleted with "mooring notes delete".
    await server.use(
      reference({ ...limits, demoTools: true, store: notes, listsTimezone: false, deletesNotes: false }),
    );
    return {
      server,
      data,
      http: { compat: { sessionHeaders: ['X-Session-ID'], eventsPath: '/mcp/sse' }, healthPath: '/health' },
    };
  },
};
