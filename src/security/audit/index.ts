// The door of the audit log. Other rooms import from here and nowhere deeper.

export type { AuditHead, AuditLog, AuditOptions, AuditRecord, FieldRule, SyncPolicy } from './contract.ts';
export type { AuditEntry } from './entry.ts';
export { openAuditLog } from './log.ts';
export { type AuditFilter, formatEntry, queryAudit, type TailOptions, tailAudit } from './query.ts';
export { type Break, type Verdict, verifyAudit } from './verify.ts';
