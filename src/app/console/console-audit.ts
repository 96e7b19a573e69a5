// Searches the audit log for the console, newest lines first.

import type { AuditPage } from '../../console/index.ts';
import {
  type AuditEntry,
  type AuditLog,
  queryAudit,
  type Verification,
  verifyAudit,
} from '../../security/audit/index.ts';
import { auditLocation } from '../config/folders.ts';

/** Lines of one page. */
const pageLines = 100;
/** Verifying reads the whole log, so its result is reused for this long. */
const verificationMs = 60_000;

/** A function that searches the log in `file`. `text` is in any field of a line, `cursor` the number of the last line. */
export function searchAudit(audit: AuditLog, file: string): (query: URLSearchParams) => Promise<AuditPage> {
  const { directory, name } = auditLocation(file);
  let known: { readonly atMs: number; readonly text: Promise<string> } | undefined;
  const verification = (): Promise<string> => {
    if (known === undefined || Date.now() - known.atMs > verificationMs) {
      known = { atMs: Date.now(), text: verifyAudit(directory, name).then(summary, (error: Error) => error.message) };
    }
    return known.text;
  };
  return async (query) => {
    await audit.flush();
    const text = (query.get('text') ?? '').toLowerCase();
    const before = Number(query.get('cursor') ?? Number.POSITIVE_INFINITY);
    const [since, until] = [dateOf(query.get('from')), dateOf(query.get('to'))];
    const filter = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
    const lines: AuditEntry[] = [];
    for await (const entry of queryAudit(directory, filter, name)) {
      if (entry.seq >= before) continue;
      if (text !== '' && !JSON.stringify(entry).toLowerCase().includes(text)) continue;
      lines.push(entry);
      // One more than a page shows whether there is a next one.
      if (lines.length > pageLines + 1) lines.shift();
    }
    const hasMore = lines.length > pageLines;
    const shown = (hasMore ? lines.slice(1) : lines).reverse();
    const last = shown.at(-1);
    return {
      enabled: true,
      lines: shown as unknown as AuditPage['lines'],
      verification: await verification(),
      ...(hasMore && last !== undefined ? { next: String(last.seq) } : {}),
    };
  };
}

function dateOf(text: string | null): Date | undefined {
  const date = text === null || text === '' ? undefined : new Date(text);
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date;
}

function summary(logs: readonly Verification[]): string {
  const broken = logs.find(({ ok }) => !ok)?.broken;
  if (broken !== undefined) return `Broken at ${broken.file}:${broken.line}: ${broken.why}`;
  const lines = logs.reduce((sum, log) => sum + log.lines, 0);
  return `The chain of ${lines} lines is intact`;
}
