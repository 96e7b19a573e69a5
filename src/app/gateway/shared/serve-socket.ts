// The process of a shared gateway: it serves on its socket until a signal, or until no client has been connected for a while.

import { version } from '../../../common/version.ts';
import type { StreamLogger } from '../../../logging/logger.ts';
import { ownProcess } from '../../../transports/own-process.ts';
import { gatewayProfile } from '../../profiles/index.ts';
import type { GatewayHost } from '../host-contract.ts';
import { type SharedOptions, type SharedServer, serveShared } from './serve-shared.ts';

export interface SocketOptions {
  readonly path: string;
  /** How long it runs without a client. Default 10 minutes. */
  readonly idleMs?: number | undefined;
}

const defaultIdleMs = 10 * 60_000;

interface ServeSocketOptions extends SocketOptions, Pick<SharedOptions, 'principal'> {
  readonly gateway: GatewayHost;
  readonly logger: StreamLogger;
}

/** Serves until the process is stopped, or has no clients. */
export async function serveOverSocket({ idleMs = defaultIdleMs, ...options }: ServeSocketOptions): Promise<void> {
  const { gateway, logger, path } = options;
  let served: SharedServer | undefined;
  const exit = ownProcess(
    gateway.server,
    async () => served?.close(),
    logger,
    () => void gateway.reload(),
  );
  await gateway.control({ transport: 'socket', clients: () => served?.clients ?? 0 });
  served = await serveShared({
    ...options,
    idleMs,
    onIdle() {
      logger.info(`no client has been connected for ${idleMs / 1000} s: ending`);
      void exit(0);
    },
  });
  logger.info('Server running', { profile: gatewayProfile, transport: 'socket', path, version });
}
