// The server's log: which level to receive. A setting of the session on older revisions, of each request on the
// newest.

import { methods } from '../../protocol/methods.ts';
import { type LogLevel, logLevels } from '../../protocol/model.ts';
import type { ClientConnection } from '../connection.ts';
import { clientErrors } from '../errors.ts';
import type { CallOptions, LogMessage } from '../options.ts';
import { type JsonObject, OutgoingCall } from '../outgoing-call.ts';
import { type FeatureContext, requireOffered } from './feature-context.ts';

/** The level of one client. */
export class Logging {
  readonly #kit: FeatureContext;
  #level: LogLevel | undefined;

  constructor(kit: FeatureContext) {
    this.#kit = kit;
  }

  async setLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    if (!logLevels.includes(level)) {
      throw clientErrors.configuration(`Unknown log level ${JSON.stringify(level)}; one of ${logLevels.join(', ')}`);
    }
    const connection = await this.#kit.caller.ready();
    if (connection.codec?.requests.has(methods.setLevel.name)) await this.#send(level, options);
    this.#level = level;
    connection.logLevel = level;
  }

  /** A new connection knows nothing of the level of the last one. */
  restored(connection: ClientConnection): void {
    if (this.#level === undefined) return;
    connection.logLevel = this.#level;
    if (!connection.codec?.requests.has(methods.setLevel.name)) return;
    this.#send(this.#level).catch((error: unknown) => {
      this.#kit.logger.warn('the log level could not be set again', { error });
    });
  }

  async #send(level: LogLevel, options?: CallOptions): Promise<void> {
    requireOffered(this.#kit, methods.setLevel);
    const call = new OutgoingCall(methods.setLevel, `"level":"${level}"`, () => undefined, options);
    call.idempotent = true;
    await this.#kit.caller.start(call);
  }
}

/** A log message as the application gets it; undefined when it is none. */
export function toLogMessage(params: JsonObject): LogMessage | undefined {
  const { level, logger, data } = params;
  if (!(logLevels as readonly unknown[]).includes(level)) return undefined;
  return { level: level as LogLevel, ...(typeof logger === 'string' ? { logger } : {}), data };
}
