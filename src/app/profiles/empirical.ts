// Profile `empirical`: a research server over stdio, with tools and a few resources. Differences from the specification
// are in empirical-rules.ts; docs/profiles/empirical.md lists them.

import { createServer } from '../../engine/server.ts';
import { type ResearchOptions, type ResearchPack, research, researchSchema } from '../../packs/research/index.ts';
import { type Health, HealthRegistry } from '../serving/health.ts';
import { installHealthCheck } from './empirical-health.ts';
import { installResources } from './empirical-resources.ts';
import { empiricalRules, requireDescriptions } from './empirical-rules.ts';
import { packOptions } from './pack-options.ts';
import type { Profile } from './profile.ts';

export const empiricalProfile: Profile = {
  name: 'empirical',
  async assemble({ logger, settings, persistentState, health = new HealthRegistry() }) {
    const server = createServer({
      name: 'research-mcp-server',
      version: '1.0.0',
      rules: empiricalRules,
      capabilities: { tools: {}, resources: {} },
      logging: false,
      logger,
      ...persistentState,
    });
    const pack = research({
      ...(await packOptions<ResearchOptions>(settings, 'research', researchSchema)),
      ...(settings.network === undefined ? {} : { network: settings.network }),
    });
    await server.use(pack);
    for (const source of Object.keys(pack.health)) health.add(source, () => healthOf(pack, source));
    installHealthCheck(server, health);
    installResources(server, Object.keys(pack.health), health);
    requireDescriptions(server);
    return { server };
  },
};

function healthOf(pack: ResearchPack, source: string): Health {
  const { state, lastError } = pack.health[source] ?? {};
  if (state === 'open') return { status: 'failed', ...(lastError === undefined ? {} : { detail: lastError }) };
  return { status: state === 'half-open' ? 'degraded' : 'ok' };
}
