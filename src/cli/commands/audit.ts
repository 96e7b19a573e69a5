// mooring audit: verifies the hash chain of the audit log, shows its last lines and searches it.

import { existsSync } from 'node:fs';
import {
  type AuditEntry,
  type AuditFilter,
  type AuditLocation,
  findAudit,
  formatEntry,
  noAudit,
  queryAudit,
  tailAudit,
  type Verification,
  verifyAudit,
} from '../../app/serving/audit-files.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';

const help = `Usage: mooring audit verify|tail|query [FILE] [options]

  verify   check that no line was changed, removed or inserted; each group of lines has the hash of the previous group
  tail     show the last lines; --follow waits for more
  query    show all lines that match

FILE is the audit log, or the folder it is in. Default: the one in the settings (see "mooring config").

Options:
  -n, --lines N        tail: number of lines (default 20)
  -f, --follow         tail: keep printing new lines as they are written
  --since TIME         only lines from this time on: 2026-01-31, 2026-01-31T09:30:00Z, or 90m, 24h, 7d ago
  --until TIME         only lines up to this time
  --event GLOB         event: call, read, prompt, request, invalid-message, auth, spawn …
  --name GLOB          name of the tool or prompt, or URI of the resource
  --method GLOB        method: tools/call, resources/read …
  --outcome GLOB       outcome: ok, failed, rejected, cancelled, input-required, detached;
                       of programs: begun, ended, or why they were stopped
  --principal GLOB     the authenticated caller
  --session GLOB       session id
  --config FILE        read settings from this file
  --data DIR           data folder of the server
  --json               print the lines as JSON, unchanged
  -h, --help           show this help

Exit code of verify: 0 if the chain is intact, otherwise 1.
`;

const filters = ['event', 'name', 'method', 'outcome', 'principal', 'session'] as const;

const outcomes = ['ok', 'failed', 'rejected', 'cancelled', 'input-required', 'detached'];
/** Of programs: that one was started, has ended, or what stopped it. */
const programOutcomes = ['begun', 'ended', 'closed', 'timeout', 'output', 'memory', 'processes', 'disk', 'unwatched'];

const options = {
  lines: { type: 'string', short: 'n' },
  follow: { type: 'boolean', short: 'f' },
  since: { type: 'string' },
  until: { type: 'string' },
  event: { type: 'string' },
  name: { type: 'string' },
  method: { type: 'string' },
  outcome: { type: 'string' },
  principal: { type: 'string' },
  session: { type: 'string' },
  config: { type: 'string' },
  data: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const run = command({ name: 'audit', help, options }, async ({ values, positionals, out }) => {
  const [what, file, ...more] = positionals;
  if (what === undefined) {
    throw new UsageError('Usage: mooring audit verify|tail|query [FILE]. See "mooring audit --help"');
  }
  if (more.length > 0) throw new UsageError('Give one log file at a time. See "mooring audit --help"');
  const flags: Record<string, readonly string[]> = values.data === undefined ? {} : { data: [values.data] };
  const find = (): Promise<AuditLocation> => findAudit(file, { flags, configFile: values.config });
  let shown = 0;
  const show = (entry: AuditEntry): void => {
    shown++;
    out.write(values.json === true ? `${JSON.stringify(entry)}\n` : `${formatEntry(entry)}\n`);
  };
  /** No matching line is fine; a log that does not exist is a usage error. */
  const ended = ({ file: path }: AuditLocation): number => {
    if (shown === 0 && !existsSync(path)) throw noAudit(path);
    if (shown === 0 && values.outcome !== undefined) requireOutcome(values.outcome);
    return 0;
  };

  if (what === 'verify') return verify(await find(), values.json === true, out);
  const filter: AuditFilter = {
    ...Object.fromEntries(filters.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]]))),
    ...(values.since === undefined ? {} : { since: timeOf('--since', values.since) }),
    ...(values.until === undefined ? {} : { until: timeOf('--until', values.until) }),
  };
  if (what === 'query') {
    const place = await find();
    for await (const entry of queryAudit(place.directory, filter, place.name)) show(entry);
    return ended(place);
  }
  if (what === 'tail') {
    const place = await find();
    const { directory, name } = place;
    const lines = linesOf(values.lines);
    const follow = values.follow === true ? untilInterrupted() : undefined;
    for await (const entry of tailAudit(
      directory,
      { filter, ...(lines === undefined ? {} : { lines }), ...(follow === undefined ? {} : { follow }) },
      name,
    )) {
      show(entry);
    }
    return follow === undefined ? ended(place) : 0;
  }
  throw new UsageError(`Unknown action ${JSON.stringify(what)}. Use verify, tail or query`);
});

async function verify(place: AuditLocation, json: boolean, out: Output): Promise<number> {
  const logs = await verifyAudit(place.directory, place.name);
  if (logs.length === 0) throw noAudit(place.file);
  if (json) out.json(logs);
  else for (const log of logs) out.write(sentence(log, out));
  return logs.every(({ ok }) => ok) ? 0 : 1;
}

function sentence(log: Verification, { style }: Output): string {
  const { name, ok, lines, from, head, sealed, unfinished, missing, broken } = log;
  if (!ok && broken !== undefined) {
    const intact = lines === 1 ? 'only the first line of the log is' : `the first ${lines} lines of the log are`;
    return `${style.bad('✗')} ${name}: broken at ${broken.file}:${broken.line}: ${broken.why}\n${lines === 0 ? '' : `  ${intact} intact\n`}`;
  }
  const remarks = [
    from > 1 && missing[0]?.from !== 1 ? `starts at line ${from}: older files were deleted` : '',
    ...missing.map(
      (gap) =>
        `lines ${gap.from} to ${gap.to} are missing: their file was ${gap.why} while the log was being written (detected ${gap.time})`,
    ),
    sealed > 0
      ? `${sealed} torn ${sealed === 1 ? 'line' : 'lines'} left by killed processes, each one recorded by the line after it`
      : '',
    unfinished ? 'the last line is incomplete' : '',
  ].filter(Boolean);
  const tail = remarks.length === 0 ? '' : `\n  ${remarks.join('\n  ')}`;
  return `${style.good('✓')} ${name}: ${lines} lines, chain intact${tail}\n  head ${head.seq} ${style.faint(head.hash)}\n`;
}

function linesOf(words: string | undefined): number | undefined {
  if (words === undefined) return undefined;
  if (!/^\d{1,6}$/.test(words)) throw new UsageError(`--lines must be a number, not ${JSON.stringify(words)}`);
  return Number(words);
}

/** Throws if an outcome that no line has is none of those that Mooring records: it is probably mistyped. */
function requireOutcome(word: string): void {
  const known = [...outcomes, ...programOutcomes];
  if (known.includes(word) || /[*?[{]/.test(word)) return;
  throw new UsageError(`--outcome: no line has ${JSON.stringify(word)}. Outcomes are ${known.join(', ')}`);
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function timeOf(flag: string, words: string): Date {
  const ago = /^(\d{1,6})([mhd])$/.exec(words);
  const time =
    ago === null ? new Date(words) : new Date(Date.now() - Number(ago[1]) * units[ago[2] as keyof typeof units]);
  if (Number.isNaN(time.getTime()))
    throw new UsageError(
      `${flag} is not a valid time: ${JSON.stringify(words)}. Write a date such as 2026-01-31, or 24h for the last day`,
    );
  return time;
}

function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  process.once('SIGTERM', () => controller.abort());
  return controller.signal;
}
