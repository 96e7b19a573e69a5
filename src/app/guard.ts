// The guard of a run: the audit log, where the profile or the person asks for one. What it writes is security/audit.

import type { Logger } from '../protocol/log.ts';
import { systemReason } from '../protocol/system-reasons.ts';
import type { AuditLog } from '../security/audit/index.ts';
import type { Settled } from './config/settle.ts';
import { makeFolder } from './make-folder.ts';
import { Mistake } from './mistake.ts';
import { basename, dirname, statSync } from './node-modules.ts';

/** Where the lines of `audit.jsonl` are: the audit log names its files by folder and name. */
export function auditPlace(file: string): { readonly directory: string; readonly name: string } {
  return { directory: dirname(file), name: basename(file).replace(/\.jsonl?$/, '') };
}

/** Opens the audit log; undefined where none is wanted. */
export async function openAudit({ settings, values }: Settled, logger: Logger): Promise<AuditLog | undefined> {
  if (settings.audit === undefined || values.get('audit.enabled')?.value !== true) return undefined;
  const { file, fsync } = settings.audit;
  const place = auditPlace(file);
  refuseSharedFolder(place.directory);
  const { openAuditLog } = await import('../security/audit/index.ts');
  try {
    makeFolder(place.directory);
    return await openAuditLog({ ...place, sync: fsync, logger });
  } catch (error) {
    const why = systemReason(error, 'folder') ?? (error as Error).message;
    throw new Mistake(
      `The audit log ${file} can not be opened: ${why}\nChoose another place with --audit FILE, or switch it off with "audit": { "enabled": false }`,
    );
  }
}

/** Whoever may write to a folder may replace what is in it, and a log that can be replaced proves nothing. */
function refuseSharedFolder(directory: string): void {
  const found = lookAt(directory);
  if (found === undefined || process.platform === 'win32' || (found.mode & 0o002) === 0) return;
  throw new Mistake(
    `The audit log can not be kept in ${directory}: everybody may write there; choose a folder of its own`,
  );
}

/** What can not be looked at is refused in better words when the log is opened. */
function lookAt(directory: string): { readonly mode: number } | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
