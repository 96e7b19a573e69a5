// Profile `secure-local`: web search over stdio, with a strict handshake and rate limits. The options here are its
// differences from the specification; docs/profiles/secure-local.md lists them.

import { createServer } from '../../engine/server.ts';
import { type SearchOptions, search, searchSchema } from '../../packs/search/index.ts';
import type { Rules } from '../../protocol/rules.ts';
import { packOptions } from './pack-options.ts';
import type { Profile } from './profile.ts';
import { limitRate } from './rate.ts';

const rules: Rules = {
  handshakeVersions: ['2025-11-25'],
  lifecycle: { requestsFrom: 'initialized', pingBeforeInit: false },
  tools: { explicitIsErrorFalse: true },
  content: { flatResource: true },
};

export const secureLocalProfile: Profile = {
  name: 'secure-local',
  async assemble({ logger, settings, persistentState }) {
    const server = createServer({
      name: 'mcp-secure-local',
      version: '1.0.0',
      rules,
      capabilities: { tools: { listChanged: true } },
      logging: false,
      logger,
      ...persistentState,
    });
    await limitRate(server, settings, [
      { per: 'principal', requests: 120, windowMs: 60_000, burst: 60 },
      { per: 'principal', tools: ['web_search'], requests: 30, windowMs: 60_000 },
    ]);
    // This profile fixes the text of a result and the fields of a tool: the note goes below, and there are no annotations.
    await server.use(
      search({
        label: 'note',
        annotations: false,
        ...(await packOptions<SearchOptions>(settings, 'search', searchSchema)),
        ...(settings.network === undefined ? {} : { network: settings.network }),
      }),
    );
    return { server };
  },
};
