// The format of a log record: a text line or a line of JSON, without secrets, without control characters, and of limited
// size. Where it is written is in sink.ts.

import type { LogFields } from '../common/logger.ts';
import type { LogLevel } from '../protocol/model.ts';

export interface LogRecord {
  readonly time: Date;
  readonly level: LogLevel;
  readonly name: string | undefined;
  readonly message: string;
  readonly fields: LogFields;
  /** Include the stacks of errors. */
  readonly stacks: boolean;
}

/** One line of JSON, with its newline. A field with the name of a part of the record gets an underscore. */
export function formatJson(record: LogRecord): string {
  const { time, level, name, message } = record;
  const line: Record<string, unknown> = Object.create(null);
  line['time'] = time.toISOString();
  line['level'] = level;
  if (name !== undefined) line['logger'] = name;
  line['message'] = redactField(message);
  for (const [key, value] of Object.entries(plainFields(record))) line[key in line ? `${key}_` : key] = value;
  return `${JSON.stringify(line)}\n`;
}

/** A text line: time, level, message, key=value. Stacks follow, indented, so that no text can look like a record. */
export function formatText(record: LogRecord, color: boolean): string {
  const { time, level, name, message } = record;
  const label = level.toUpperCase().padEnd(7);
  let line = `${time.toISOString()} ${color ? `${colors[level]}${label}\x1b[0m` : label} `;
  if (name !== undefined) line += `[${printable(name)}] `;
  line += printable(redactField(message));
  let stacks = '';
  for (const [key, value] of Object.entries(plainFields(record))) {
    line += ` ${printable(key)}=${showValue(value)}`;
    if (!isRecord(value) || typeof value['stack'] !== 'string') continue;
    for (const frame of value['stack'].split('\n')) stacks += `    ${printable(frame)}\n`;
  }
  return `${line}\n${stacks}`;
}

const colors: Record<LogLevel, string> = {
  debug: '\x1b[2m',
  info: '\x1b[36m',
  notice: '\x1b[36m',
  warning: '\x1b[33m',
  error: '\x1b[31m',
  critical: '\x1b[31;1m',
  alert: '\x1b[31;1m',
  emergency: '\x1b[31;1m',
};

function showValue(value: unknown): string {
  if (typeof value === 'string') return /^[\w.:/@+-]+$/.test(value) ? value : printable(JSON.stringify(value));
  if (isRecord(value) && typeof value['stack'] === 'string') {
    const { stack: _, ...rest } = value;
    return printable(JSON.stringify(rest));
  }
  return printable(JSON.stringify(value) ?? 'undefined');
}

/** Text of a peer may be logged: it must not start a new line or control the terminal. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, escapeControl);
}

function escapeControl(character: string): string {
  if (character === '\t') return ' ';
  if (character === '\n') return '\\n';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const maxTextLength = 8 * 1024;
/** Stops huge or circular values from filling the log: the most values per record, and how deep they may be nested. */
const maxValues = 500;
const maxDepth = 6;

function clip(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}… (${text.length} characters)`;
}

const secretKey =
  /passw|passphrase|secret|token(?!s$|count|usage)|api-?key|private-?key|authorization|cookie|credential|signature|session-?id|request-?state/i;

/** Shortens a text and removes the credentials that a header may contain. */
function redactField(text: string): string {
  return clip(text).replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [redacted]');
}

function plainFields({ fields, stacks }: LogRecord): Record<string, unknown> {
  const budget = { left: maxValues, stacks };
  return plainObject(fields, 0, budget);
}

interface FormatBudget {
  left: number;
  readonly stacks: boolean;
}

function plainObject(source: object, depth: number, budget: FormatBudget): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(source)) {
    if (budget.left-- <= 0) {
      result['…'] = 'more';
      break;
    }
    let value: unknown;
    try {
      value = (source as Record<string, unknown>)[key];
    } catch {
      value = '[unreadable]'; // A getter that throws must not prevent the log line.
    }
    if (value === undefined || typeof value === 'function') continue;
    result[clip(key)] = secretKey.test(key.replaceAll('_', '-')) ? '[redacted]' : plain(value, depth + 1, budget);
  }
  return result;
}

function plain(value: unknown, depth: number, budget: FormatBudget): unknown {
  if (typeof value === 'string') return redactField(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxDepth) return '[deeper]';
  if (value instanceof Error) return plainError(value, depth, budget);
  if (value instanceof Date || value instanceof URL) return String(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map || value instanceof Set) return `[${value.constructor.name} of ${value.size}]`;
  if (!Array.isArray(value)) return plainObject(value, depth, budget);
  const items: unknown[] = [];
  for (const item of value) {
    if (budget.left-- <= 0) {
      items.push('… more');
      break;
    }
    items.push(plain(item, depth + 1, budget));
  }
  return items;
}

function plainError(error: Error, depth: number, budget: FormatBudget): Record<string, unknown> {
  const { cause } = error;
  return {
    name: String(error.name),
    message: redactField(String(error.message)),
    ...plainObject(error, depth, budget),
    ...(cause === undefined ? {} : { cause: plain(cause, depth + 1, budget) }),
    ...(budget.stacks ? { stack: redactField(String(error.stack)) } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
