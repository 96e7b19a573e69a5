// The logger of a server that was given none: warnings and errors go to the console, which is stderr on Node.js.

import type { LogFields, Logger } from './logger.ts';

/** A caller who makes a handler fail in a loop must not fill the disk; beyond this, lines are counted instead. */
const maxLinesPerSecond = 100;

interface ConsoleLike {
  error(...data: unknown[]): void;
}

export function createConsoleLogger(console: ConsoleLike = globalThis.console): Logger {
  let second = 0;
  let lines = 0;
  const write = (level: string, message: string, fields: LogFields): void => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) {
      if (lines > maxLinesPerSecond) console.error(`warning: ${lines - maxLinesPerSecond} lines were not logged`);
      second = now;
      lines = 0;
    }
    if (++lines > maxLinesPerSecond) return;
    const { error, ...rest } = fields;
    const parts = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    const line = [`${level}: ${message}`, ...parts].join(' ');
    if (error === undefined) console.error(line);
    else console.error(line, error);
  };
  const withFields = (own: LogFields): Logger => ({
    debug() {},
    info() {},
    notice() {},
    warn: (message, fields) => write('warning', message, { ...own, ...fields }),
    error: (message, fields) => write('error', message, { ...own, ...fields }),
    child: (fields) => withFields({ ...own, ...fields }),
    enabled: (level) => level === 'warning' || level === 'error',
  });
  return withFields({});
}
