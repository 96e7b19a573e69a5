// The audit log from the outside: where the one of this run is, and what can be asked of it.

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

/** The log of a file, or the one the settings lead to. */
export async function findAudit(file: string | undefined, asked: Asked): Promise<AuditPlace> {
  const path = file === undefined ? (await settle(asked)).settings.audit?.file : resolve(file);
  if (path === undefined) throw new Mistake('The settings keep no audit log; name one: mooring audit <what> FILE');
  const place = auditPlace(path);
  if (!existsSync(place.directory))
    throw new Mistake(`There is no audit log ${path}; "mooring config" shows where it would be`);
  return { ...place, file: path };
}
