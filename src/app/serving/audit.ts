// Opens the audit log, if the profile or the settings enable it. The format is in security/audit.

import { statSync } from 'node:fs';
import { reasonText } from '../../common/errno-text.ts';
import { hasModes } from '../../common/file-modes.ts';
import type { Logger } from '../../common/logger.ts';
import type { AuditLog } from '../../security/audit/index.ts';
import { auditLocation } from '../config/folders.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import { makeFolder } from '../make-folder.ts';
import { UsageError } from '../usage-error.ts';
import type { Health } from './health.ts';

/** Opens the audit log; undefined if it is disabled. */
export async function openAudit({ settings, values }: ResolvedSettings, logger: Logger): Promise<AuditLog | undefined> {
  if (settings.audit === undefined || values.get('audit.enabled')?.value !== true) return undefined;
  const { file, fsync, failureMode, maxTotalBytes } = settings.audit;
  const place = auditLocation(file);
  assertPrivateFolder(place.directory);
  const { openAuditLog } = await import('../../security/audit/index.ts');
  try {
    makeFolder(place.directory);
    return await openAuditLog({ ...place, sync: fsync, failureMode, maxTotalBytes, logger });
  } catch (error) {
    const why = reasonText(error, 'folder');
    throw new UsageError(
      `The audit log ${file} cannot be opened: ${why}\nChoose another file with --audit FILE, or disable it with "audit": { "enabled": false }`,
    );
  }
}

/** The health of the audit log. */
export function auditHealth({ status: { failure, failureMode } }: AuditLog): Health {
  if (failure === undefined) return { status: 'ok' };
  return failureMode === 'open'
    ? { status: 'degraded', detail: `cannot be written: ${failure}. Calls are run without being recorded` }
    : { status: 'failed', detail: `cannot be written: ${failure}. Calls are rejected until it can` };
}

/** Users who can write to a folder can replace its files, and a log that can be replaced proves nothing. */
function assertPrivateFolder(directory: string): void {
  const found = lookAt(directory);
  if (found === undefined || !hasModes || (found.mode & 0o002) === 0) return;
  throw new UsageError(
    `The audit log cannot be stored in ${directory}: all users can write to this folder. Choose a private folder`,
  );
}

/** If the folder cannot be read, opening the log reports it with a better message. */
function lookAt(directory: string): { readonly mode: number } | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
