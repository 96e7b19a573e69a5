// The pack `workers`: long-lived programs under supervision, for example command-line coding agents. Tools start, list,
// message, read and stop them; `worker://` resources show them and notify about changes.

import { assertKnownOptions } from '../../common/known-options.ts';
import { silentLogger } from '../../common/logger.ts';
import type { Context } from '../../engine/context.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { OwnFiles } from '../../security/files/tree.ts';
import {
  createSandbox,
  type ProgramRule,
  type Sandbox,
  SandboxError,
  type SandboxLevel,
  type SandboxLimits,
  workerLimits,
} from '../../security/sandbox/index.ts';
import { createMemoryRegistry, type WorkerRegistry } from './contract.ts';
import { installResources, workerUri } from './resources.ts';
import { WorkerSupervisor } from './supervisor.ts';
import { installTools } from './tools.ts';
import { defaultSupervision, type RestartLimits } from './worker.ts';

export {
  createMemoryRegistry,
  type RestartPolicy,
  type WorkerRecord,
  type WorkerRegistry,
  type WorkerStatus,
} from './contract.ts';
export { defaultSupervision, type RestartLimits } from './worker.ts';

export interface WorkersOptions {
  /** Programs that may be started: names, absolute paths, or rules. Without any, no worker can be started. */
  readonly programs?: readonly (string | ProgramRule)[];
  /** Folders that workers can read and change. They start in the first. */
  readonly writable?: readonly string[];
  /** The server's own files, which are hidden from workers. */
  readonly own?: OwnFiles | undefined;
  /** Folders that workers can read. */
  readonly readOnly?: readonly string[];
  /** Coding agents need `host`; default `none`. */
  readonly network?: 'none' | 'host';
  /** Environment variables of every worker; nothing is inherited. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The required sandbox level. Default `kernel`: only it ends workers with the server, however the server ends. */
  readonly level?: SandboxLevel;
  readonly limits?: Partial<SandboxLimits>;
  readonly runAs?: { readonly uid: number; readonly gid: number };
  readonly maxAlive?: number;
  readonly maxEnded?: number;
  readonly supervision?: Partial<RestartLimits>;
  /** Where records are stored. Default: in memory. */
  readonly registry?: WorkerRegistry;
  /** Wraps the sandbox, so that starts of programs can be recorded. */
  readonly record?: (sandbox: Sandbox, ctx?: Context) => Sandbox;
}

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const count = { type: 'integer', minimum: 1 } as const;

/** The options of this pack in a configuration file. */
export const workersSchema = {
  type: 'object',
  properties: {
    programs: texts,
    writable: texts,
    readOnly: texts,
    network: { type: 'string', enum: ['none', 'host'] },
    environment: { type: 'object', additionalProperties: { type: 'string' } },
    level: { type: 'string', enum: ['kernel', 'limits', 'none'] },
    limits: { type: 'object', additionalProperties: { type: 'number', exclusiveMinimum: 0 } },
    runAs: {
      type: 'object',
      properties: { uid: count, gid: count },
      required: ['uid', 'gid'],
      additionalProperties: false,
    },
    maxAlive: count,
    maxEnded: count,
    supervision: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
  },
  additionalProperties: false,
} as const;

const known: Record<keyof WorkersOptions, true> = {
  programs: true,
  writable: true,
  own: true,
  readOnly: true,
  network: true,
  environment: true,
  level: true,
  limits: true,
  runAs: true,
  maxAlive: true,
  maxEnded: true,
  supervision: true,
  registry: true,
  record: true,
};

/** Adds tools and resources to a server. Await `server.use(workers(…))`: it checks the sandbox before it resolves. */
export function workers(options: WorkersOptions = {}): Pack<Server> {
  assertKnownOptions('workers', options, known);
  let close: (() => Promise<void>) | undefined;
  return {
    name: 'workers',
    async install(server) {
      const logger = server.logger ?? silentLogger;
      const { maxAlive = 8, maxEnded = 32, registry = createMemoryRegistry(), record = (same) => same } = options;
      let sandbox: Sandbox;
      try {
        sandbox = await makeSandbox(options, maxAlive);
      } catch (error) {
        if (!(error instanceof SandboxError) || error.code !== 'level-unavailable') throw error;
        logger.warn(`the worker tools are disabled: ${error.message}`, { remedy: error.remedy });
        return;
      }
      logger.info('workers run in a sandbox', { sandbox: sandbox.describe });
      const supervisor = new WorkerSupervisor(
        {
          spawn: (request) => record(sandbox).spawn(request),
          registry,
          supervision: { ...defaultSupervision, ...options.supervision },
          maxAlive,
          maxEnded,
          logger,
        },
        {
          listChanged: () => server.resourcesChanged(),
          workerChanged: (id) => server.resourceUpdated(workerUri(id)),
        },
      );
      await supervisor.load();
      installTools(
        server,
        supervisor,
        (options.programs ?? []).map((each) => (typeof each === 'string' ? each : each.name)),
      );
      installResources(server, supervisor);
      close = async () => {
        await supervisor.close();
        await sandbox.close();
      };
    },
    close: () => close?.(),
  };
}

function makeSandbox(options: WorkersOptions, maxAlive: number): Promise<Sandbox> {
  const { programs = [], writable = [], readOnly = [], network, environment, level, limits, runAs, own } = options;
  return createSandbox({
    ...{ programs, writable, readOnly },
    limits: { ...workerLimits, maxConcurrent: Math.max(64, maxAlive * 8), ...limits },
    ...(level === undefined ? {} : { level }),
    ...(network === undefined ? {} : { network }),
    ...(environment === undefined ? {} : { environment: { set: environment } }),
    ...(runAs === undefined ? {} : { runAs }),
    ...(own === undefined ? {} : { hidden: () => own.paths() }),
  });
}
