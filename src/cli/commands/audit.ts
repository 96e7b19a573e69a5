// mooring audit: checks the chain of the audit log, shows its end, finds lines in it.

import { existsSync } from 'node:fs';
import {
  type AuditEntry,
  type AuditFilter,
  type AuditPlace,
  findAudit,
  formatEntry,
  queryAudit,
  tailAudit,
  type Verification,
  verifyAudit,
} from '../../app/audit.ts';
import { Mistake } from '../../app/mistake.ts';
import { defaultProfile } from '../../app/profiles/index.ts';
import { type Output, openOutput } from '../ui/output.ts';
import { readArgs } from '../usage.ts';

const help = `Usage: mooring audit verify|tail|query [FILE] [options]

  verify   checks that no line was changed, removed or put in: each group carries the hash of the one before
  tail     the last lines; --follow waits for more
  query    every line that fits

FILE is the audit log; without it the one of the settings (see "mooring config").

Options:
  -n, --lines N        tail: how many lines (default 20)
  -f, --follow         tail: go on with what is written from now on
  --since TIME         not before (2026-01-31, 2026-01-31T09:30:00Z, or 90m, 24h, 7d ago)
  --until TIME         not after
  --event GLOB         call, read, prompt, request, refusal, auth, spawn …
  --name GLOB          the tool, prompt or resource
  --method GLOB        tools/call, resources/read …
  --outcome GLOB       ok, failed, refused, cancelled
  --principal GLOB     who
  --session GLOB       in which session
  --config FILE        settings from this file
  --data DIR           the data folder of the run
  --json               for programs: the lines as they are
  -h, --help           show this

Exit code of verify: 0 when the chain holds, else 1.
`;

const filters = ['event', 'name', 'method', 'outcome', 'principal', 'session'] as const;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('audit', args, {
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
    help: { type: 'boolean', short: 'h' },
  });
  const out = openOutput();
  const [what, file, ...more] = positionals;
  if (values.help === true || what === undefined) {
    out.write(help);
    return values.help === true ? 0 : 2;
  }
  if (more.length > 0) throw new Mistake('One log at a time; see "mooring audit --help"');
  const flags: Record<string, readonly string[]> = values.data === undefined ? {} : { data: [values.data] };
  const find = (): Promise<AuditPlace> => findAudit(file, { flags, configFile: values.config, defaultProfile });
  let shown = 0;
  const show = (entry: AuditEntry): void => {
    shown++;
    out.write(values.json === true ? `${JSON.stringify(entry)}\n` : `${formatEntry(entry)}\n`);
  };
  /** Nothing found is an answer, nothing to look into is not. */
  const ended = ({ file: path }: AuditPlace): number => {
    if (shown === 0 && !existsSync(path)) throw new Mistake(`There is no audit log ${path}`);
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
  throw new Mistake(`${JSON.stringify(what)} is not known; verify, tail or query`);
}

async function verify(place: AuditPlace, json: boolean, out: Output): Promise<number> {
  const logs = await verifyAudit(place.directory, place.name);
  if (logs.length === 0) throw new Mistake(`There is no audit log ${place.file}`);
  if (json) out.json(logs);
  else for (const log of logs) out.write(sentence(log, out));
  return logs.every(({ ok }) => ok) ? 0 : 1;
}

function sentence(log: Verification, { style }: Output): string {
  const { name, ok, lines, from, head, sealed, unfinished, missing, broken } = log;
  if (!ok && broken !== undefined) {
    return `${style.bad('✗')} ${name}: broken at ${broken.file}:${broken.line}: ${broken.why}\n  the ${lines} lines before it hold\n`;
  }
  const remarks = [
    from > 1 && missing[0]?.from !== 1 ? `begins at number ${from}: older files were deleted` : '',
    ...missing.map(
      (gap) =>
        `lines ${gap.from} to ${gap.to} are not here: their file was ${gap.why} while the log was being written (noticed ${gap.time})`,
    ),
    sealed > 0
      ? `${sealed} torn ${sealed === 1 ? 'line' : 'lines'} of killed processes, each explained by the next`
      : '',
    unfinished ? 'the last line has no end yet' : '',
  ].filter(Boolean);
  const tail = remarks.length === 0 ? '' : `\n  ${remarks.join('\n  ')}`;
  return `${style.good('✓')} ${name}: ${lines} lines, the chain holds${tail}\n  head ${head.seq} ${style.faint(head.hash)}\n`;
}

function linesOf(words: string | undefined): number | undefined {
  if (words === undefined) return undefined;
  if (!/^\d{1,6}$/.test(words)) throw new Mistake(`--lines must be a number, not ${JSON.stringify(words)}`);
  return Number(words);
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function timeOf(flag: string, words: string): Date {
  const ago = /^(\d{1,6})([mhd])$/.exec(words);
  const time =
    ago === null ? new Date(words) : new Date(Date.now() - Number(ago[1]) * units[ago[2] as keyof typeof units]);
  if (Number.isNaN(time.getTime()))
    throw new Mistake(`${flag} is no time: ${JSON.stringify(words)}; write 2026-01-31, or 24h for a day ago`);
  return time;
}

function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  process.once('SIGTERM', () => controller.abort());
  return controller.signal;
}
