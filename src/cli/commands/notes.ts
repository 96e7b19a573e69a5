// mooring notes: lists how many notes each caller stores in the data folder, and deletes notes.

import { resolveSettings } from '../../app/config/resolve.ts';
import { type CallerNotes, deleteNotes, listCallers } from '../../app/state/notes.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { type Column, table } from '../ui/table.ts';

const help = `Usage: mooring notes [list | delete ID... | delete --all] [options]

Manages the notes in the data folder. It works while a server uses the folder.

  mooring notes                list the callers with the number and size of their notes
  mooring notes delete ID...   delete notes by id
  mooring notes delete --all   delete all notes of a caller

Options:
  --caller NAME    name of the caller (default: unauthenticated callers)
  --issuer URL     issuer of the caller's token
  --all            delete: all notes of the caller
  --config FILE    read settings from this file
  --data DIR       data folder
  --json           print JSON
  -h, --help       show this help
`;

const options = {
  caller: { type: 'string' },
  issuer: { type: 'string' },
  all: { type: 'boolean' },
  config: { type: 'string' },
  data: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const run = command({ name: 'notes', help, options }, async ({ values, positionals, out }) => {
  const [verb = 'list', ...ids] = positionals;
  const dataDir = await folderOf(values);
  if (verb === 'list' && ids.length === 0) return list(await listCallers(dataDir), values.json === true, out);
  if (verb !== 'delete') throw new UsageError(`Unknown action ${JSON.stringify(verb)}. Use list or delete`);
  if ((ids.length === 0) !== (values.all === true)) {
    throw new UsageError('Name the notes: mooring notes delete ID..., or mooring notes delete --all');
  }
  const { caller, issuer } = values;
  if (issuer !== undefined && caller === undefined)
    throw new UsageError('--issuer works only together with --caller NAME');
  const deleted = await deleteNotes(dataDir, { caller, issuer }, values.all === true ? 'all' : ids);
  if (values.json === true) out.json({ deleted });
  const missing = ids.filter((id) => !deleted.includes(id));
  out.info(`${deleted.length === 1 ? '1 note' : `${deleted.length} notes`} deleted.\n`);
  if (missing.length === 0) return 0;
  out.info(`mooring: There is no note ${missing.map((id) => lineForTerminal(id)).join(', ')}\n`);
  return 1;
});

async function folderOf({ data, config }: { data?: string; config?: string }): Promise<string> {
  const flags: Record<string, readonly string[]> = data === undefined ? {} : { data: [data] };
  return (await resolveSettings({ flags, configFile: config })).settings.dataDir;
}

function list(callers: readonly CallerNotes[], json: boolean, out: Output): number {
  if (json) {
    out.json(callers);
    return 0;
  }
  if (callers.length === 0) {
    out.info('There are no notes.\n');
    return 0;
  }
  const { style, width } = out;
  const columns: Column<CallerNotes>[] = [
    {
      title: 'caller',
      text: ({ caller }) => (caller === undefined ? '(unauthenticated)' : lineForTerminal(caller)),
      paint: (text) => style.name(text),
    },
    { title: 'notes', text: ({ notes }) => String(notes) },
    { title: 'bytes', text: ({ bytes }) => String(bytes) },
    { title: 'issuer', text: ({ issuer }) => (issuer === undefined ? '–' : lineForTerminal(issuer)) },
  ];
  out.write(table(callers, columns, { style, width }));
  return 0;
}
