// Finds the audit log of the settings, and re-exports the functions that read it.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { auditLocation } from '../config/folders.ts';
import { resolveSettings, type SettingsInput } from '../config/resolve.ts';
import { UsageError } from '../usage-error.ts';

export {
  type AuditEntry,
  type AuditFilter,
  formatEntry,
  queryAudit,
  tailAudit,
  type Verification,
  verifyAudit,
} from '../../security/audit/index.ts';

export interface AuditLocation {
  readonly directory: string;
  readonly name: string;
  readonly file: string;
}

/** The log in `file`, or the one in the settings. */
export async function findAudit(file: string | undefined, asked: SettingsInput): Promise<AuditLocation> {
  const path = file === undefined ? (await resolveSettings(asked)).settings.audit?.file : resolve(file);
  if (path === undefined)
    throw new UsageError(
      'The audit log is disabled in the settings. Name a file: mooring audit verify|tail|query FILE',
    );
  const place = auditLocation(path);
  if (!existsSync(place.directory)) throw noAudit(path);
  return { ...place, file: path };
}

export function noAudit(path: string): UsageError {
  return new UsageError(
    `There is no audit log ${path}. "mooring serve --audit FILE" writes one, and "mooring config" shows the configured path`,
  );
}
