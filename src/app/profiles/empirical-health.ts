// The tool `health_check` of profiles `empirical` and `orchestrator`: the status of the server and its parts, as JSON.

import type { Server } from '../../engine/server.ts';
import { HealthRegistry } from '../serving/health.ts';

/** Registers the tool; the parts are checked when it is called. */
export function installHealthCheck(server: Server, health: HealthRegistry = new HealthRegistry()): void {
  const startedAt = process.uptime();
  server.tool('health_check', {
    description: 'Tell how this server and its parts are doing',
    input: { type: 'object', properties: {}, required: [] },
    annotations: { readOnlyHint: true },
    run: async () => {
      const parts = await health.check();
      const { name, version } = server;
      return {
        status: parts.every(({ status }) => status === 'ok') ? 'healthy' : 'degraded',
        server: { name, version },
        uptime: Math.floor(process.uptime() - startedAt),
        tools: server.catalog.tools.size,
        parts,
      };
    },
  });
}
