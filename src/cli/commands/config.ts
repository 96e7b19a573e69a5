// mooring config: the effective settings, and where each one comes from.

import { listSettings, type SettingLine } from '../../app/config/list-settings.ts';
import { options } from '../../app/config/options.ts';
import { type ResolvedSettings, resolveSettings } from '../../app/config/resolve.ts';
import { withoutSecrets } from '../../app/config/secrets.ts';
import { profiles } from '../../app/profiles/index.ts';
import { UsageError } from '../../app/usage-error.ts';
import { readArgs } from '../parse-args.ts';
import { settingsFlags, toFlagValues } from '../settings-flags.ts';
import { type Output, openOutput } from '../ui/output.ts';
import { table } from '../ui/table.ts';

const help = `Usage: mooring config [profile | schema | path] [options]

Shows the settings "mooring serve" would use, and where each one comes from: a default, the configuration file, the
environment or a flag. A flag overrides the environment, which overrides the file, which overrides the default.
Accepts all options of "mooring serve".

  mooring config system   show the settings of another profile
  mooring config schema   print the JSON Schema of the configuration file
  mooring config path     print the path of the configuration file in use

Options:
  --config FILE   read settings from this file
  --json          print JSON
  -h, --help      show this help
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('config', args, {
    ...settingsFlags(),
    config: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  const out = openOutput();
  if (values['help'] === true) {
    out.write(help);
    return 0;
  }
  const [what, ...more] = positionals;
  if (what === 'schema') {
    const { configSchema } = await import('../../app/config/schema.ts');
    out.json(configSchema());
    return 0;
  }
  const profile = what !== undefined && Object.hasOwn(profiles, what) ? what : undefined;
  if (more.length > 0 || (what !== undefined && what !== 'path' && profile === undefined)) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(more[0] ?? what)}. See "mooring config --help"`);
  }
  const configFile = values['config'] as string | undefined;
  const resolved = await resolveSettings({
    flags: toFlagValues(values),
    configFile,
    ...(profile === undefined ? {} : { profile }),
  });
  if (what === 'path') {
    if (resolved.file !== undefined) out.write(`${resolved.file}\n`);
    else out.info('mooring: no configuration file is in use. "mooring init --user" creates one\n');
    return resolved.file === undefined ? 1 : 0;
  }
  if (values['json'] === true) out.json(forPrograms(resolved));
  else print(resolved, out);
  return 0;
}

function print(resolved: ResolvedSettings, out: Output): void {
  const { style, width } = out;
  out.write(`${style.faint('file')}  ${resolved.file ?? 'none ("mooring init --user" creates one)'}\n\n`);
  const columns = [
    { title: 'setting', text: (line: SettingLine) => line.name, paint: (text: string) => style.name(text) },
    {
      title: 'from',
      text: (line: SettingLine) => line.from,
      paint: (text: string, line: SettingLine) => (line.changed ? style.warn(text) : style.faint(text)),
    },
    { title: 'value', text: (line: SettingLine) => line.value },
  ];
  out.write(table(listSettings(resolved), columns, { style, width }));
  for (const note of resolved.notes) out.info(`\n${note}\n`);
}

function forPrograms({ values, file }: ResolvedSettings): unknown {
  const settings = options.flatMap(({ key, secret }) => {
    const entry = values.get(key);
    if (entry === undefined) return [];
    return [[key, { value: secret ? 'hidden' : redacted(key, entry.value), origin: entry.origin }] as const];
  });
  return { file: file ?? null, settings: Object.fromEntries(settings) };
}

/** Options of packs and plugins may contain keys; environment variables and headers of servers often do. */
function redacted(key: string, value: unknown): unknown {
  if (key === 'packs' || key === 'plugins') return withoutSecrets(value);
  if (key !== 'mcpServers') return value;
  const hide = (fields: unknown): unknown =>
    fields === undefined
      ? undefined
      : Object.fromEntries(Object.keys(fields as object).map((name) => [name, 'hidden']));
  const servers = Object.entries(value as Record<string, Record<string, unknown>>);
  return Object.fromEntries(
    servers.map(([name, entry]) => [name, { ...entry, env: hide(entry['env']), headers: hide(entry['headers']) }]),
  );
}
