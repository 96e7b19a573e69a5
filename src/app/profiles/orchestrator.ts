// Profile `orchestrator`: supervised workers as tools and resources. docs/profiles/orchestrator.md says which programs
// an operator must allow before a worker can be started.

import { createServer } from '../../engine/server.ts';
import { type WorkersOptions, workers, workersSchema } from '../../packs/workers/index.ts';
import { HealthRegistry } from '../serving/health.ts';
import { ownFilesOf } from '../state/own-files.ts';
import { useData } from './data.ts';
import { installHealthCheck } from './empirical-health.ts';
import { empiricalRules, requireDescriptions } from './empirical-rules.ts';
import { createWorkerRegistry } from './orchestrator-registry.ts';
import { packOptions } from './pack-options.ts';
import type { Profile } from './profile.ts';
import { limitRate } from './rate.ts';

export const orchestratorProfile: Profile = {
  name: 'orchestrator',
  async assemble({ logger, settings, audit, persistentState, health = new HealthRegistry() }) {
    const server = createServer({
      name: 'claude-code-mcp-server',
      version: '1.0.0',
      rules: empiricalRules,
      capabilities: {
        tools: {},
        resources: { subscribe: true, listChanged: true },
        // 2024-11-05 has no tasks and does not declare them; stateless clients see the extension.
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      },
      logging: false,
      logger,
      ...persistentState,
    });
    await limitRate(server, settings, [
      { per: 'principal', requests: 600, windowMs: 60_000, burst: 200 },
      { per: 'principal', tools: ['start_worker'], requests: 30, windowMs: 60_000, burst: 10 },
    ]);
    const { allowedCommands: programs, roots } = settings;
    const data = await useData(server, settings.dataDir, { logger, health });
    await server.use(
      workers({
        registry: createWorkerRegistry(data),
        writable: roots,
        ...(await packOptions<WorkersOptions>(settings, 'workers', workersSchema)),
        ...(programs === undefined ? {} : { programs }),
        ...(audit === undefined ? {} : { record: audit.sandbox }),
        own: ownFilesOf(settings),
      }),
    );
    const started = server.catalog.tools.has('start_worker');
    health.add('workers', () => (started ? { status: 'ok' } : { status: 'failed', detail: 'no sandbox; see the log' }));
    installHealthCheck(server, health);
    requireDescriptions(server);
    return { server, data };
  },
};
