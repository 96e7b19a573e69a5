// The interface of a profile: how to assemble a server, and its transport options.

import type { Logger } from '../../common/logger.ts';
import type { SealKey } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { TasksOptions } from '../../engine/tasks/task-options.ts';
import type { Bus, ExpiringStore } from '../../protocol/ports.ts';
import type { AuditLog } from '../../security/audit/index.ts';
import type { HttpOptions } from '../../transports/http.ts';
import type { StdioOptions } from '../../transports/stdio.ts';
import type { GatewayHost } from '../gateway/host-contract.ts';
import type { HealthRegistry } from '../serving/health.ts';
import type { Settings } from '../settings/settings.ts';
import type { Data } from './data.ts';

/** State that survives a restart: tasks, and with a configured key also sessions, cursors and unfinished calls. */
export interface PersistentState {
  /** Seals them; replicas share it. */
  readonly key?: SealKey;
  /** Earlier keys, whose sessions are still accepted. */
  readonly previousKeys?: readonly SealKey[];
  /** Stores which sessions have ended, which single-use tokens were used, and the subscriptions of sessions. */
  readonly store?: ExpiringStore;
  readonly tasks: TasksOptions;
  /** Connects workers with each other. */
  readonly bus?: Bus;
}

/** What a profile receives. */
export interface ProfileOptions {
  readonly logger: Logger;
  readonly version: string;
  readonly settings: Settings;
  /** The health of the parts, for health_check. Plugins are included. */
  readonly health?: HealthRegistry;
  /** Pass it to createServer. Undefined: nothing survives the process. */
  readonly persistentState?: PersistentState | undefined;
  /** The audit log, if enabled. It is added to the server automatically; pass it to packs that start programs. */
  readonly audit?: AuditLog | undefined;
}

/** A server that is ready for a transport. */
export interface AssembledServer {
  readonly server: Server;
  /** HTTP options of the profile. */
  readonly http?: HttpOptions;
  /** Stdio options of the profile. */
  readonly stdio?: Pick<StdioOptions, 'graceMs'>;
  /** The data folder, if the profile stores data per caller. */
  readonly data?: Data;
  /** The gateway, if it is one: it has further servers at other paths. */
  readonly gateway?: GatewayHost;
}

export interface Profile {
  readonly name: string;
  assemble(options: ProfileOptions): AssembledServer | Promise<AssembledServer>;
}
