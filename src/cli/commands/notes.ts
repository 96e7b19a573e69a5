// mooring notes: who keeps how many notes in the data folder, and a way to delete some.

import { settle } from '../../app/config/settle.ts';
import { lineForTerminal } from '../../app/foreign-text.ts';
import { Mistake } from '../../app/mistake.ts';
import { deleteNotes, type KeptNotes, listCallers } from '../../app/notes.ts';
import { defaultProfile } from '../../app/profiles/index.ts';
import { type Output, openOutput } from '../ui/output.ts';
import { type Column, table } from '../ui/table.ts';
import { readArgs } from '../usage.ts';

const help = `Usage: mooring notes [list | delete ID... | delete --all] [options]

The notes in the data folder. A server that uses the folder may be running.

  mooring notes                who keeps how many notes, and how much room they take
  mooring notes delete ID...   deletes notes by their ids
  mooring notes delete --all   deletes all notes of a caller

Options:
  --caller NAME    whose notes; default: those of callers without a name
  --issuer URL     the authorization server that knows the caller by that name
  --all            all notes of that caller
  --config FILE    settings from this file
  --data DIR       the data folder
  --json           for programs
  -h, --help       show this
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('notes', args, {
    caller: { type: 'string' },
    issuer: { type: 'string' },
    all: { type: 'boolean' },
    config: { type: 'string' },
    data: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  const out = openOutput();
  if (values.help === true) {
    out.write(help);
    return 0;
  }
  const [verb = 'list', ...ids] = positionals;
  const dataDir = await folderOf(values);
  if (verb === 'list' && ids.length === 0) return list(await listCallers(dataDir), values.json === true, out);
  if (verb !== 'delete') throw new Mistake(`${JSON.stringify(verb)} is not known; list or delete`);
  if ((ids.length === 0) !== (values.all === true)) {
    throw new Mistake('Which notes? mooring notes delete ID..., or --all');
  }
  const { caller, issuer } = values;
  if (issuer !== undefined && caller === undefined) throw new Mistake('--issuer needs --caller NAME');
  const deleted = await deleteNotes(dataDir, { caller, issuer }, values.all === true ? 'all' : ids);
  if (values.json === true) out.json({ deleted });
  const missing = ids.filter((id) => !deleted.includes(id));
  out.note(`${deleted.length === 1 ? '1 note' : `${deleted.length} notes`} deleted.\n`);
  if (missing.length === 0) return 0;
  out.note(`mooring: There is no note ${missing.map((id) => lineForTerminal(id)).join(', ')}\n`);
  return 1;
}

async function folderOf({ data, config }: { data?: string; config?: string }): Promise<string> {
  const flags: Record<string, readonly string[]> = data === undefined ? {} : { data: [data] };
  return (await settle({ flags, configFile: config, defaultProfile })).settings.dataDir;
}

function list(callers: readonly KeptNotes[], json: boolean, out: Output): number {
  if (json) {
    out.json(callers);
    return 0;
  }
  const { style, width } = out;
  const columns: Column<KeptNotes>[] = [
    {
      title: 'caller',
      text: ({ caller }) => (caller === undefined ? '(without a name)' : lineForTerminal(caller)),
      paint: (text) => style.name(text),
    },
    { title: 'notes', text: ({ notes }) => String(notes) },
    { title: 'bytes', text: ({ bytes }) => String(bytes) },
    { title: 'issuer', text: ({ issuer }) => (issuer === undefined ? '–' : lineForTerminal(issuer)) },
  ];
  out.write(table(callers, columns, { style, width }));
  return 0;
}
