// The interface of the logger: engine, transports and packs write to it, the process decides where it goes. The
// implementation that writes to stderr is elsewhere. Not the log messages MCP sends to clients.

/** Data logged with a message. The logger redacts secrets by key before it writes. */
export type LogFields = { readonly [key: string]: unknown };

/** Where a server reports to its operator. No method throws or blocks, whatever it is given. */
export interface Logger {
  /** For developers. */
  debug(message: string, fields?: LogFields): void;
  /** Normal operation. */
  info(message: string, fields?: LogFields): void;
  /** Normal, but worth knowing. */
  notice(message: string, fields?: LogFields): void;
  /** Something to look at; the server continues. */
  warn(message: string, fields?: LogFields): void;
  /** Something failed. */
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each message. */
  child(fields: LogFields): Logger;
  /** True when a message of that level would be written: check it before you build something costly. */
  enabled(level: 'debug' | 'info' | 'notice' | 'warning' | 'error'): boolean;
}

/** Logs nothing: the default where no logger is given. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  notice() {},
  warn() {},
  error() {},
  child: () => silentLogger,
  enabled: () => false,
};
