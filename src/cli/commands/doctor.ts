// mooring doctor: what works on this machine, as a table.

import { resolveSettings } from '../../app/config/resolve.ts';
import { type DoctorFinding, runDoctor } from '../../app/doctor/doctor.ts';
import { UsageError } from '../../app/usage-error.ts';
import { readArgs } from '../parse-args.ts';
import { settingsFlags, toFlagValues } from '../settings-flags.ts';
import { type Output, openOutput } from '../ui/output.ts';
import { padTo, wrapTo } from '../ui/width.ts';

const help = `Usage: mooring doctor [options]

Checks what works on this machine: Node.js, the settings, plugins, the data folder, SQLite, the audit log, the
clipboard, D-Bus, the HTTP port, and each layer of the sandbox, by trying what that layer must prevent.
Accepts all options of "mooring serve".

Options:
  --config FILE   read settings from this file
  --no-sandbox    skip the sandbox checks, which take a few seconds
  --json          print JSON
  -h, --help      show this help

Exit code: 0 if nothing is broken (optional parts may be missing), otherwise 1.
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('doctor', args, {
    ...settingsFlags(),
    config: { type: 'string' },
    'no-sandbox': { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  const out = openOutput();
  if (values['help'] === true) {
    out.write(help);
    return 0;
  }
  if (positionals.length > 0)
    throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[0])}. See "mooring doctor --help"`);
  const settled = await resolveSettings({
    flags: toFlagValues(values),
    configFile: values['config'] as string | undefined,
  });
  const findings: DoctorFinding[] = [];
  let group = '';
  for await (const finding of runDoctor(settled, values['no-sandbox'] !== true)) {
    findings.push(finding);
    if (values['json'] === true) continue;
    if (finding.group !== group) out.write(`${group === '' ? '' : '\n'}${out.style.strong(finding.group)}\n`);
    group = finding.group;
    print(finding, out);
  }
  if (values['json'] === true) out.json(findings);
  else out.write(`\n${summary(findings, out)}\n`);
  return findings.some(({ status }) => status === 'broken') ? 1 : 0;
}

const marks = { ok: '✓', missing: '–', broken: '✗' } as const;
const nameWidth = 22;

function print({ name, status, detail, remedy }: DoctorFinding, { style, width, write }: Output): void {
  const paint = { ok: style.good, missing: style.warn, broken: style.bad }[status];
  const left = 4 + nameWidth;
  // A name longer than the column gets a line of its own.
  const short = name.length < nameWidth;
  write(`  ${paint(marks[status])} ${short ? padTo(name, nameWidth) : `${name}\n${' '.repeat(left)}`}`);
  const available = width === undefined ? Number.POSITIVE_INFINITY : width - left;
  const lines = (text: string): string[] => (available === Number.POSITIVE_INFINITY ? [text] : wrapTo(text, available));
  const body = [
    ...lines(detail).map((line) => (status === 'ok' ? style.faint(line) : line)),
    ...(remedy === '' ? [] : lines(`→ ${remedy}`).map((line) => style.name(line))),
  ];
  write(`${body.join(`\n${' '.repeat(left)}`)}\n`);
}

function summary(findings: readonly DoctorFinding[], { style }: Output): string {
  const count = (status: DoctorFinding['status']): number => findings.filter((each) => each.status === status).length;
  const [broken, missing] = [count('broken'), count('missing')];
  if (broken > 0) return style.bad(`${broken} broken, ${missing} missing, ${count('ok')} ok`);
  if (missing > 0)
    return `${style.good(`${count('ok')} ok`)}, ${style.warn(`${missing} missing`)}: features that need them are not offered`;
  return style.good('Everything works.');
}
