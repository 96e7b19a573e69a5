// The logger as everyone sees it: engine, transports and packs write to it, the process decides where it goes.
// Contracts only; the one that writes to stderr is transports/logger.ts. Not the log messages MCP sends to clients.

/** What stands beside a message. Secrets in it are the logger's duty: it redacts by key before it writes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where a server tells its operator what happens. No method throws or blocks, whatever it is given. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  notice(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each message. */
  child(fields: LogFields): Logger;
  /** True when a message of that level would be written: ask before building something costly. */
  enabled(level: 'debug' | 'info' | 'notice' | 'warning' | 'error'): boolean;
}

/** Says nothing: the default wherever no logger is given. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  notice() {},
  warn() {},
  error() {},
  child: () => silentLogger,
  enabled: () => false,
};
