// What a profile is: a recipe for a server, and how it wants to be served. Contract only.

import type { Server } from '../../engine/server.ts';
import type { Logger } from '../../protocol/log.ts';

/** What the command line and the configuration hand to a profile. */
export interface ProfileOptions {
  readonly logger: Logger;
  readonly version: string;
}

/** A server that is ready to be connected to a transport. */
export interface Ready {
  readonly server: Server;
}

export interface Profile {
  readonly name: string;
  assemble(options: ProfileOptions): Ready | Promise<Ready>;
}
