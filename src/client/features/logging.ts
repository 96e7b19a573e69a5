// The server's log: which level to receive. A setting of the session on older revisions, of each request on the
// newest.

import { relatedTaskOf } from '../../protocol/meta.ts';
import { methods } from '../../protocol/methods.ts';
import { type JsonObject, type LogLevel, logLevels } from '../../protocol/model.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import type { ClientConnection } from '../connection.ts';
import { clientErrors } from '../errors.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { CallOptions, LogContext, LogMessage } from '../options.ts';
import { type FeatureContext, requireOffered } from './feature-context.ts';

/** The level of requests while the application has a handler for log messages and has not set one: usual of sessions too. */
const defaultRequestLevel: LogLevel = 'info';

/** The level of one client. */
export class Logging {
  readonly #context: FeatureContext;
  readonly #hasHandler: boolean;
  #level: LogLevel | undefined;

  constructor(context: FeatureContext, hasHandler: boolean) {
    this.#context = context;
    this.#hasHandler = hasHandler;
  }

  /** Where every request has its own level, a server sends no log messages for requests without one. */
  opened(connection: ClientConnection): void {
    if (this.#level !== undefined) connection.logLevel = this.#level;
    else if (this.#hasHandler && !hasSessionLevel(connection)) connection.logLevel = defaultRequestLevel;
  }

  async setLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    if (!logLevels.includes(level)) {
      throw clientErrors.configuration(`Unknown log level ${JSON.stringify(level)}; one of ${logLevels.join(', ')}`);
    }
    assertCallOptions('setLogLevel', options);
    const connection = await this.#context.caller.ready();
    if (hasSessionLevel(connection)) await this.#send(level, options);
    this.#level = level;
    connection.logLevel = level;
  }

  /** A new connection knows nothing of the level of the last one. */
  restored(connection: ClientConnection): void {
    this.opened(connection);
    if (this.#level === undefined || !hasSessionLevel(connection)) return;
    this.#send(this.#level).catch((error: unknown) => {
      this.#context.logger.warn('the log level could not be set again', { error });
    });
  }

  async #send(level: LogLevel, options?: CallOptions): Promise<void> {
    requireOffered(this.#context, methods.setLevel);
    const call = new OutgoingCall(methods.setLevel, `"level":"${level}"`, () => undefined, options);
    call.idempotent = true;
    await this.#context.caller.start(call);
  }
}

function hasSessionLevel({ codec }: ClientConnection): boolean {
  return codec?.requests.has(methods.setLevel.name) === true;
}

/** Where a notification came from. `during`: the call whose response stream brought it. */
export function contextOf(params: JsonObject, during: OutgoingCall | undefined): LogContext {
  return { call: during?.options, task: relatedTaskOf(params) };
}

/** A log message as the application gets it; undefined when it is none. */
export function toLogMessage(params: JsonObject): LogMessage | undefined {
  const { level, logger, data } = params;
  if (!(logLevels as readonly unknown[]).includes(level)) return undefined;
  return { level: level as LogLevel, ...(typeof logger === 'string' ? { logger } : {}), data };
}
