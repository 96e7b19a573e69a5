// mooring doctor: what works on this machine, and what is wrong with a server, a configuration file or all configured
// servers.

import { clientAliases, clients } from '../../app/clients/clients.ts';
import { resolveSettings } from '../../app/config/resolve.ts';
import { type DiagnoseOptions, diagnose, diagnoseAll, diagnoseCommand } from '../../app/doctor/diagnose.ts';
import type { DoctorFinding } from '../../app/doctor/findings.ts';
import { checkMachine } from '../../app/doctor/machine.ts';
import { forTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { headersOf, pairs, secondsOf } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import { readArgs } from '../parse-args.ts';
import { settingsFlags, toFlagValues } from '../settings-flags.ts';
import { type Output, openOutput } from '../ui/output.ts';
import { padTo, wrapTo } from '../ui/width.ts';

const help = `Usage: mooring doctor [target …] [options]
       mooring doctor [options] -- command …

Finds out what does not work, and says what to do about it.

Without a target it checks this machine (Node.js, settings, plugins, data folder, SQLite, Redis, audit log, clipboard,
D-Bus, HTTP port, and each layer of the sandbox), and then every server that is configured in an AI client.
A target is a URL, a command line in quotes, a configuration file of any client, the name of a client, a Mooring
profile, or a name in "mcpServers" of the configuration. Servers are started and their tools listed; none is called.

Options:
  --all              check only the servers that are configured in AI clients
  --no-servers       do not check those servers
  --no-sandbox       skip the sandbox checks, which take a few seconds
  --timeout SECONDS  time limit for the start of each server (default 15)
  --token TOKEN      bearer token for the URL; @FILE reads it from a file, env:NAME from the environment
  --header 'N: V'    header for the URL; repeatable
  --env NAME=VALUE   environment variable for the command; repeatable
  --config FILE      read settings and names of servers from this file
  --json             print JSON
  -h, --help         show this help
Without a target, all options of "mooring serve" are accepted too, and checked.

Exit code: 0 if nothing is broken (there may be warnings), 1 if something is, 2 for a usage error.
`;

const defaultTimeoutSeconds = '15';

export async function run(args: readonly string[]): Promise<number> {
  const split = args.indexOf('--');
  const command = split === -1 ? [] : args.slice(split + 1);
  const { values, positionals } = readArgs('doctor', split === -1 ? args : args.slice(0, split), {
    ...settingsFlags(),
    config: { type: 'string' },
    all: { type: 'boolean' },
    'no-servers': { type: 'boolean' },
    'no-sandbox': { type: 'boolean' },
    timeout: { type: 'string' },
    header: { type: 'string', multiple: true },
    env: { type: 'string', multiple: true },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  const out = openOutput();
  if (values['help'] === true) {
    out.write(help);
    return 0;
  }
  const findings: DoctorFinding[] = [];
  let group = '';
  for await (const finding of findingsFor(positionals, command, values)) {
    findings.push(finding);
    if (values['json'] === true) continue;
    if (finding.group !== group)
      out.write(`${group === '' ? '' : '\n'}${out.style.strong(forTerminal(finding.group))}\n`);
    group = finding.group;
    print(finding, out);
  }
  if (values['json'] === true) out.json(findings);
  else out.write(`${group === '' ? '' : '\n'}${summary(findings, positionals, out)}\n`);
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0;
}

type OptionValues = Readonly<Record<string, unknown>>;

async function* findingsFor(
  targets: readonly string[],
  command: readonly string[],
  values: OptionValues,
): AsyncGenerator<DoctorFinding> {
  const [token] = (values['token'] ?? []) as string[];
  const options: DiagnoseOptions = {
    timeoutMs: secondsOf((values['timeout'] as string | undefined) ?? defaultTimeoutSeconds) * 1_000,
    configFile: values['config'] as string | undefined,
    headers: headersOf({ header: values['header'] as string[] | undefined, token }),
    env: pairs((values['env'] ?? []) as string[], '--env'),
  };
  if (targets.length > 0 || command.length > 0) {
    if (values['all'] === true) throw new UsageError('--all cannot be combined with a target');
    // A client can have the name of a program, such as "cursor".
    if (!Object.hasOwn(clients, targets[0] ?? '') && !Object.hasOwn(clientAliases, targets[0] ?? '')) {
      await requireQuotes({ command: 'doctor' }, targets, options.configFile);
    }
    yield* diagnose(targets, options);
    if (command.length > 0) yield* diagnoseCommand(command, options);
    return;
  }
  if (values['all'] !== true) {
    const { timeout: _timeout, header: _header, env: _env, ...flags } = values;
    const resolved = await resolveSettings({
      flags: toFlagValues(flags),
      configFile: values['config'] as string | undefined,
    });
    yield* checkMachine(resolved, values['no-sandbox'] !== true);
  }
  if (values['no-servers'] !== true) yield* diagnoseAll(options);
}

const marks = { ok: '✓', warning: '–', error: '✗' } as const;
const nameWidth = 22;

function print({ id, name, severity, detail, remedy }: DoctorFinding, { style, width, write }: Output): void {
  const paint = { ok: style.good, warning: style.warn, error: style.bad }[severity];
  const left = 4 + nameWidth;
  const title = forTerminal(name);
  // A name longer than the column gets a line of its own.
  const short = title.length < nameWidth;
  write(`  ${paint(marks[severity])} ${short ? padTo(title, nameWidth) : `${title}\n${' '.repeat(left)}`}`);
  const available = width === undefined ? Number.POSITIVE_INFINITY : width - left;
  const lines = (text: string): string[] =>
    available === Number.POSITIVE_INFINITY ? text.split('\n') : wrapTo(text, available);
  const shown = severity === 'ok' ? forTerminal(detail) : `${forTerminal(detail)} [${id}]`;
  const body = [
    ...lines(shown).map((line) => (severity === 'ok' ? style.faint(line) : line)),
    ...(remedy === '' ? [] : lines(`→ ${forTerminal(remedy)}`).map((line) => style.name(line))),
  ];
  write(`${body.join(`\n${' '.repeat(left)}`)}\n`);
}

function summary(findings: readonly DoctorFinding[], targets: readonly string[], { style }: Output): string {
  const count = (severity: DoctorFinding['severity']): number =>
    findings.filter((each) => each.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
  if (findings.length === 0) {
    const place = targets.length === 0 ? 'any client on this machine' : targets.join(', ');
    return `No servers are configured in ${place}.`;
  }
  if (errors > 0) return style.bad(`${plural(errors, 'error')}, ${plural(warnings, 'warning')}, ${count('ok')} ok`);
  if (warnings > 0) return `${style.good(`${count('ok')} ok`)}, ${style.warn(plural(warnings, 'warning'))}`;
  return style.good('Everything works.');
}
