// The audit log. Other folders import only from here.

export type {
  AuditHead,
  AuditLog,
  AuditOptions,
  AuditRecord,
  AuditStatus,
  FailureMode,
  FieldRule,
  SyncPolicy,
} from './contract.ts';
export type { AuditEntry } from './entry.ts';
export { logsIn } from './files.ts';
export { openAuditLog } from './log.ts';
export { type AuditFilter, formatEntry, queryAudit, type TailOptions, tailAudit } from './query.ts';
export { type Verification, verifyAudit } from './verify.ts';
