// Finds the audit log of the settings, and re-exports the functions that read it.

import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { logsIn } from '../../security/audit/index.ts';
import { auditLocation, defaultAuditFile } from '../config/folders.ts';
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

/** The log in `given`, a file or a folder, or the one in the settings. */
export async function findAudit(given: string | undefined, asked: SettingsInput): Promise<AuditLocation> {
  const path = given === undefined ? await configuredFile(asked) : fileAt(resolve(given));
  const place = auditLocation(path);
  if (!existsSync(place.directory)) throw noAudit(path);
  return { ...place, file: path };
}

async function configuredFile(asked: SettingsInput): Promise<string> {
  const { settings } = await resolveSettings(asked);
  // Also the log of a server that was started with other settings in the same data folder.
  const path = settings.audit?.file ?? defaultAuditFile(settings.dataDir);
  if (settings.audit !== undefined || existsSync(path)) return path;
  throw new UsageError(
    'The audit log is disabled in the settings. Name its file or folder: mooring audit verify|tail|query FILE',
  );
}

/** The log in a folder: that of a data folder, or the only one. */
function fileAt(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return path;
  const logs = logsIn(path);
  const standard = defaultAuditFile(path);
  const [first] = logs;
  if (first === undefined || logs.includes(auditLocation(standard).name)) return standard;
  if (logs.length === 1) return join(path, `${first}.jsonl`);
  const names = logs.map((name) => `${name}.jsonl`).join(', ');
  throw new UsageError(`There are several logs in ${path}: ${names}. Name one of the files`);
}

export function noAudit(path: string): UsageError {
  return new UsageError(
    `There is no audit log ${path}. "mooring serve --audit FILE" writes one, and "mooring config" shows the configured path`,
  );
}
