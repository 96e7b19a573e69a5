// One line of the log as its readers see it. How it is written: line-encoder.ts.

import type { JsonObject } from '../../protocol/model.ts';

/** A parsed line. Fields that do not apply are absent. */
export interface AuditEntry {
  readonly seq: number;
  readonly time: string;
  /**
   * `call`, `read`, `prompt`, `request`, `task`, `invalid-message`, `auth`, `spawn`, or one about the log itself: `open`, `close`,
   * `recovered`, `reopened`, `deleted`, `rejected`, `dropped`, `suppressed`, `unencodable`.
   */
  readonly event: string;
  readonly principal?: string;
  readonly issuer?: string;
  readonly session?: string;
  readonly transport?: string;
  readonly address?: string;
  /** Only for the events `request` and `invalid-message`; the others imply it. */
  readonly method?: string;
  /** The tool, prompt or resource. */
  readonly name?: string;
  /** The server behind a gateway that the name belongs to. */
  readonly upstream?: string;
  readonly arguments?: unknown;
  readonly outcome?: string;
  readonly code?: number;
  readonly ms?: number;
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
