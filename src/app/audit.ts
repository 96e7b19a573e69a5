// Finds the audit log of the settings, and re-exports the functions that read it.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Asked, settle } from './config/settle.ts';
import { auditPlace } from './guard.ts';
import { Mistake } from './mistake.ts';

export {
  type AuditEntry,
  type AuditFilter,
  formatEntry,
  queryAudit,
  tailAudit,
  type Verification,
  verifyAudit,
} from '../security/audit/index.ts';

export interface AuditPlace {
  readonly directory: string;
  readonly name: string;
  readonly file: string;
}

/** The log in `file`, or the one in the settings. */
export async function findAudit(file: string | undefined, asked: Asked): Promise<AuditPlace> {
  const path = file === undefined ? (await settle(asked)).settings.audit?.file : resolve(file);
  if (path === undefined)
    throw new Mistake('The audit log is disabled in the settings. Name a file: mooring audit verify|tail|query FILE');
  const place = auditPlace(path);
  if (!existsSync(place.directory))
    throw new Mistake(`There is no audit log ${path}. "mooring config" shows the configured path`);
  return { ...place, file: path };
}
