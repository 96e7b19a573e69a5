// What a profile is: a recipe for a server, and how it wants to be served. Contract only.

import type { SealKey } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { Logger } from '../../protocol/log.ts';
import type { ExpiringStore } from '../../protocol/ports.ts';
import type { AuditLog } from '../../security/audit/index.ts';
import type { HttpOptions } from '../../transports/http.ts';
import type { StdioOptions } from '../../transports/stdio.ts';
import type { HealthRegistry } from '../health.ts';
import type { Settings } from '../settings.ts';
import type { Data } from './data.ts';

/** What keeps sessions, cursors and unfinished calls good after a restart, where a key is configured. */
export interface Lasting {
  /** Seals them; replicas share it. */
  readonly key: SealKey;
  /** Earlier keys, whose sessions are still good. */
  readonly previousKeys: readonly SealKey[];
  /** Remembers which were ended or used up, and what sessions have subscribed to. */
  readonly store: ExpiringStore;
}

/** What the command line and the configuration hand to a profile. */
export interface ProfileOptions {
  readonly logger: Logger;
  readonly version: string;
  readonly settings: Settings;
  /** Where parts say how they are doing; what answers health_check reads it. Plugins are in it already. */
  readonly health?: HealthRegistry;
  /** Hand it on to createServer. Undefined: the server makes its own, and forgets it when it ends. */
  readonly lasting?: Lasting | undefined;
  /** The audit log, where one is kept. It is put on the server by itself; hand it on to what starts programs. */
  readonly audit?: AuditLog | undefined;
}

/** A server that is ready to be connected to a transport. */
export interface Ready {
  readonly server: Server;
  /** How the profile wants HTTP to be served, where its document asks for something of its own. */
  readonly http?: HttpOptions;
  /** Likewise for stdio. */
  readonly stdio?: Pick<StdioOptions, 'graceMs'>;
  /** The data folder, where the profile keeps something for each caller. */
  readonly data?: Data;
}

export interface Profile {
  readonly name: string;
  assemble(options: ProfileOptions): Ready | Promise<Ready>;
}
