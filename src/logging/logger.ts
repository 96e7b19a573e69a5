// The logger of a process: levels, two formats, child loggers, and the environment variables that set them. The text is
// written to stderr by sink.ts; stdout is for the protocol.

import type { Writable } from 'node:stream';
import { assertKnownOptions } from '../common/known-options.ts';
import type { LogFields, Logger } from '../common/logger.ts';
import { type LogLevel, logLevels } from '../protocol/model.ts';
import { formatJson, formatText, type LogRecord } from './format.ts';
import { defaultMaxQueuedBytes, LogSink, type Send, sendTo } from './sink.ts';

export interface LoggerOptions {
  /** The lowest level that is written, or `off`. Default: `MCP_LOG_LEVEL`, otherwise `info`. */
  readonly level?: LogLevel | 'off';
  /** JSON lines instead of text. Default: `MCP_LOG_JSON`. */
  readonly json?: boolean;
  /** Default: stderr. */
  readonly stream?: Writable & { fd?: number; isTTY?: boolean };
  /** Removes fields that must not be written, before the built-in redaction by key. */
  readonly redact?: (fields: LogFields) => LogFields;
  /** The part of the program that logs. */
  readonly name?: string;
  /** How much unread log text is queued; beyond that, messages are counted and dropped. Default 1 MiB. */
  readonly maxQueuedBytes?: number;
  /** The source of `MCP_LOG_LEVEL`, `MCP_LOG_JSON` and `NO_COLOR`. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A logger that can be flushed. */
export interface StreamLogger extends Logger {
  /** Resolves when everything has been written; that may be never if the stream is not read. */
  flush(): Promise<void>;
  child(fields: LogFields): StreamLogger;
}

const known: Record<keyof LoggerOptions, true> = {
  level: true,
  json: true,
  stream: true,
  redact: true,
  name: true,
  maxQueuedBytes: true,
  env: true,
};

/**
 * Creates a logger that writes to stderr and never blocks the process.
 *
 * @example
 * const logger = createLogger({ name: 'weather' });
 * logger.info('station found', { city: 'Gdynia' });
 */
export function createLogger(options: LoggerOptions = {}): StreamLogger {
  assertKnownOptions('createLogger', options, known);
  const env = options.env ?? process.env;
  // Opened with the first line: most servers have nothing to log at start-up.
  const stream = (): NonNullable<LoggerOptions['stream']> => options.stream ?? process.stderr;
  const requested = options.level ?? env['MCP_LOG_LEVEL'];
  const level = requested === undefined || requested === '' ? 'info' : parseLevel(requested);
  const json = options.json ?? /^(true|1|yes|on)$/i.test(env['MCP_LOG_JSON'] ?? '');
  let color: boolean | undefined;
  const colored = (): boolean => (color ??= stream().isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb');
  const format = json ? formatJson : (record: LogRecord) => formatText(record, colored());
  const describeDrops = (count: number) =>
    format({
      time: new Date(),
      level: 'warning',
      name: options.name,
      message: `${count} log messages were dropped because the log was not read`,
      fields: { dropped: count },
      stacks: false,
    });
  let send: Send | undefined;
  const sendLate: Send = (text, done) => (send ??= sendTo(stream()))(text, done);
  const sink = new LogSink(sendLate, describeDrops, options.maxQueuedBytes ?? defaultMaxQueuedBytes);
  const threshold = level === 'off' ? logLevels.length : logLevels.indexOf(level ?? 'info');
  const logger = new LeveledLogger({ sink, format, threshold, redact: options.redact, name: options.name }, {});
  if (level === undefined) {
    logger.warn(`unknown log level ${JSON.stringify(requested)}; using info`, {
      known: [...logLevels, 'off'].join(', '),
    });
  }
  return logger;
}

/** Parses a level by any of its usual names, in any case; undefined for anything else. */
export function parseLevel(name: string): LogLevel | 'off' | undefined {
  const lower = name.trim().toLowerCase();
  const known = levelAliases.get(lower) ?? lower;
  return known === 'off' ? known : logLevels.find((level) => level === known);
}

const levelAliases = new Map<string, LogLevel | 'off'>([
  ['trace', 'debug'],
  ['verbose', 'debug'],
  ['warn', 'warning'],
  ['err', 'error'],
  ['fatal', 'critical'],
  ['crit', 'critical'],
  ['emerg', 'emergency'],
  ['none', 'off'],
  ['silent', 'off'],
]);

interface SharedLoggerState {
  readonly sink: LogSink;
  readonly format: (record: LogRecord) => string;
  readonly threshold: number;
  readonly redact: ((fields: LogFields) => LogFields) | undefined;
  readonly name: string | undefined;
}

class LeveledLogger implements StreamLogger {
  readonly #shared: SharedLoggerState;
  readonly #fields: LogFields;

  constructor(shared: SharedLoggerState, fields: LogFields) {
    this.#shared = shared;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#log('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log('info', message, fields);
  }

  notice(message: string, fields?: LogFields): void {
    this.#log('notice', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log('warning', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log('error', message, fields);
  }

  child(fields: LogFields): StreamLogger {
    return new LeveledLogger(this.#shared, { ...this.#fields, ...fields });
  }

  enabled(level: LogLevel): boolean {
    return logLevels.indexOf(level) >= this.#shared.threshold;
  }

  flush(): Promise<void> {
    return this.#shared.sink.flushed();
  }

  #log(level: LogLevel, message: string, own: LogFields | undefined): void {
    if (!this.enabled(level)) return;
    const { sink, format, redact, name } = this.#shared;
    const stacks = this.enabled('debug') || level === 'error';
    try {
      const all = own === undefined ? this.#fields : { ...this.#fields, ...own };
      const fields = redact === undefined ? all : redact(all);
      sink.write(format({ time: new Date(), level, name, message: String(message), fields, stacks }));
    } catch {
      // A field cannot be read (a proxy, a toString that throws): report at least that a message was lost.
      sink.write(
        format({ time: new Date(), level, name, message: 'a log message could not be written', fields: {}, stacks }),
      );
    }
  }
}
