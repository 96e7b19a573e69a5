// One line of the log as its readers see it. How it is written: line-encoder.ts.

import type { JsonObject } from '../../protocol/model.ts';

/** A parsed line. Fields that do not apply are absent. */
export interface AuditEntry {
  /** The number of the line, counted from 1. */
  readonly seq: number;
  /** When it was recorded: ISO 8601, UTC. */
  readonly time: string;
  /**
   * `call`, `read`, `prompt`, `request`, `task`, `invalid-message`, `auth`, `spawn`, or one about the log itself: `open`, `close`,
   * `recovered`, `reopened`, `deleted`, `rejected`, `dropped`, `suppressed`, `unencodable`.
   */
  readonly event: string;
  /** The id of the caller. */
  readonly principal?: string;
  /** The issuer of its token. */
  readonly issuer?: string;
  /** The key of the session. */
  readonly session?: string;
  /** Such as `stdio` or `http`. */
  readonly transport?: string;
  /** The address that the request came from. */
  readonly address?: string;
  /** Only for the events `request` and `invalid-message`; the others imply it. */
  readonly method?: string;
  /** The tool, prompt or resource. */
  readonly name?: string;
  /** The server behind a gateway that the name belongs to. */
  readonly upstream?: string;
  /** The arguments without secrets, as a digest, or absent: see `AuditOptions.arguments`. */
  readonly arguments?: unknown;
  /** For requests `ok`, `failed`, `rejected`, `cancelled`, `input-required` or `detached`. */
  readonly outcome?: string;
  /** The JSON-RPC code of the error. */
  readonly code?: number;
  /** How long it took, in milliseconds. */
  readonly ms?: number;
  /** More about events that are not requests. */
  readonly details?: JsonObject;
  /** The hash of the group of lines before; the first of a group has it. */
  readonly prev?: string;
}

/** Whether a line always starts a new group, so that its hash covers all lines before it. */
export const beginsGroup = (event: string): boolean => event === 'open' || event === 'close';

/** Parses a line; undefined if it is not a line of this log. */
export function parseEntry(line: string): AuditEntry | undefined {
  try {
    const entry = JSON.parse(line) as AuditEntry;
    const sound =
      Number.isSafeInteger(entry.seq) &&
      (entry.prev === undefined || typeof entry.prev === 'string') &&
      typeof entry.time === 'string' &&
      typeof entry.event === 'string';
    return sound ? entry : undefined;
  } catch {
    return undefined; // Not JSON: the caller decides what that means.
  }
}
