// mooring gateway check: reads the files and shows what would be started, without starting anything.

import { shownTarget, variablesIn } from '../../app/gateway/entries/shown-target.ts';
import { settingsOfGateway } from '../../app/gateway/gateway-settings.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { command } from '../command.ts';
import { table } from '../ui/table.ts';
import { printNotes } from './print-notes.ts';

const help = `Usage: mooring gateway check [--config FILE]… [--json]

Reads the configuration and shows which commands the gateway would start and which URLs it would connect to, without
secrets. Nothing is started. Exit code: 0 if the configuration is valid, otherwise 2.

Options:
  --config FILE    a configuration file; repeatable (default: your user configuration)
  --json           print JSON
  -h, --help       show this help
`;

const options = {
  config: { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const;

export const run = command({ name: 'gateway check', help, options, maxWords: 0 }, async ({ values, out }) => {
  const { config, notes, files } = await settingsOfGateway({ files: values.config ?? [] });
  const given = variablesIn(files);
  const rows = config.servers.map(({ name, slug, entry, disabled, isolation, auth, sandbox, pin }) => ({
    name,
    slug,
    target: shownTarget(entry, given),
    variables: Object.keys(entry.env ?? {}),
    headers: Object.keys(entry.headers ?? {}),
    disabled,
    isolation,
    auth: auth.kind,
    sandbox: sandbox !== undefined,
    pin,
  }));
  if (values.json === true) {
    out.json({ servers: rows, views: config.views.map(({ name }) => name), notes });
    return 0;
  }
  const { style, width } = out;
  type Row = (typeof rows)[number];
  const columns = [
    { title: 'server', text: ({ slug }: Row) => slug, paint: (text: string) => style.name(text) },
    {
      title: 'command or URL',
      text: ({ target, disabled }: Row) => `${lineForTerminal(target, 300)}${disabled ? ' (disabled)' : ''}`,
    },
    { title: 'credentials', text: ({ auth }: Row) => auth },
    { title: 'variables', text: ({ variables }: Row) => variables.join(', ') },
    { title: 'isolation', text: ({ isolation }: Row) => isolation },
    { title: 'pins', text: ({ pin, sandbox }: Row) => `${pin}${sandbox ? ', sandbox' : ''}` },
  ];
  out.write(table(rows, columns, { style, width }));
  for (const { name, servers, mode } of config.views) {
    out.write(
      `view ${name}: ${servers === '*' ? 'all servers' : servers.join(', ')}${mode === 'all' ? '' : ` (${mode})`}\n`,
    );
  }
  printNotes(notes, out);
  return 0;
});
