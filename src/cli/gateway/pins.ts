// mooring gateway pins: which tools were accepted, what has changed since, and accepting it.

import { runningGateways } from '../../app/gateway/running.ts';
import { openPins } from '../../app/gateway/stored-pins.ts';
import { nearest } from '../../app/text/nearest.ts';
import { forTerminal, lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { table } from '../ui/table.ts';

const help = `Usage: mooring gateway pins [SERVER] [options]
       mooring gateway pins diff [SERVER[/TOOL]] [options]
       mooring gateway pins accept SERVER[/TOOL] [options]

A gateway accepts tools when it first lists them, except with "newTools": "hold". "pins" lists the accepted tools and those
that have changed since; "diff" shows what changed; "accept" accepts the tools as they are now.

Options:
  --data DIR    the data folder of the gateway
  --json        print JSON
  -h, --help    show this help

Exit code of diff: 0 if no tool has changed, otherwise 1.
`;

type Stored = Awaited<ReturnType<typeof openPins>>;
type Difference = ReturnType<Stored['list']>['differences'][number];

const options = {
  data: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const run = command(
  { name: 'gateway pins', help, options, maxWords: 2 },
  async ({ values, positionals, out }) => {
    const json = values.json === true;
    const pins = await openPins(values.data);
    const [first, ...rest] = positionals;
    if (first === 'diff') return diff(pins, rest[0], json, out);
    if (first === 'accept') return accept(pins, rest[0], json, out);
    if (rest.length > 0) throw new UsageError('Usage: mooring gateway pins [SERVER | diff | accept]');
    return list(pins, first, json, out);
  },
);

/** `server` or `server/tool`; tools may have slashes in their names. Throws a `UsageError` for what has no pins. */
function matcher(
  pins: Stored,
  text: string | undefined,
): (item: { readonly slug: string; readonly tool: string }) => boolean {
  if (text === undefined) return () => true;
  const end = text.indexOf('/');
  const [named, tool] = end === -1 ? [text, undefined] : [text.slice(0, end), text.slice(end + 1)];
  const server = pins.slugOf(named);
  const servers = pins.servers();
  if (servers.length > 0 && !servers.includes(server)) throw withoutPins(named, servers);
  const isMeant = (item: { readonly slug: string; readonly tool: string }): boolean =>
    item.slug === server && (tool === undefined || item.tool === tool);
  const { accepted, differences } = pins.list();
  if (servers.length > 0 && ![...accepted, ...differences].some(isMeant)) {
    throw new UsageError(
      `The server ${server} has no tool ${JSON.stringify(tool)}. "mooring gateway pins ${server}" lists them`,
    );
  }
  return isMeant;
}

function withoutPins(named: string, servers: readonly string[]): UsageError {
  const meant = nearest(named, servers);
  const hint = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
  return new UsageError(
    `No tools of a server ${JSON.stringify(named)} are known${hint}\nThere are tools of ${servers.join(', ')}`,
  );
}

function list(pins: Stored, server: string | undefined, json: boolean, out: Output): number {
  const { accepted, differences } = pins.list();
  const isMeant = matcher(pins, server);
  const state = new Map(differences.map(({ identity, tool, kind }) => [`${identity} ${tool}`, kind]));
  const known = accepted.filter(isMeant).map(({ identity, ...pin }) => ({
    ...pin,
    state: state.get(`${identity} ${pin.tool}`) ?? ('accepted' as string),
  }));
  const others = differences
    .filter((each) => each.kind !== 'changed' && isMeant(each))
    .map(({ slug, tool, kind }) => ({ slug, tool, fingerprint: '', acceptedAt: '', by: '', state: kind as string }));
  const rows = [...known, ...others];
  if (json) {
    out.json({ tools: rows });
    return 0;
  }
  if (rows.length === 0) {
    out.info('No tools have been accepted yet. A gateway accepts tools when it first lists them.\n');
    return 0;
  }
  const { style, width } = out;
  type Row = (typeof rows)[number];
  const columns = [
    { title: 'server', text: ({ slug }: Row) => slug },
    { title: 'tool', text: ({ tool }: Row) => lineForTerminal(tool, 80), paint: (text: string) => style.name(text) },
    {
      title: 'state',
      text: (row: Row) => row.state,
      paint: (text: string, row: Row) => (row.state === 'accepted' ? text : style.warn(text)),
    },
    { title: 'accepted', text: ({ acceptedAt }: Row) => acceptedAt },
    { title: 'fingerprint', text: ({ fingerprint }: Row) => fingerprint.slice(0, 12) },
  ];
  out.write(table(rows, columns, { style, width }));
  return 0;
}

function diff(pins: Stored, named: string | undefined, json: boolean, out: Output): number {
  const found = pins.list().differences.filter(matcher(pins, named));
  if (json) out.json({ differences: found.map((each) => ({ ...each, fields: pins.fieldsOf(each) })) });
  else if (found.length === 0) out.info('No tool has changed since it was accepted.\n');
  else for (const each of found) printDifference(pins, each, out);
  return found.length === 0 ? 0 : 1;
}

function printDifference(pins: Stored, difference: Difference, out: Output): void {
  const { style } = out;
  const { slug, tool, kind, accepted } = difference;
  const from = kind === 'renamed' ? ` from ${lineForTerminal(accepted?.name ?? '', 80)}` : '';
  out.write(`${style.strong(`${slug}/${lineForTerminal(tool, 80)}`)} is ${kind}${from}\n`);
  for (const { path, before, after } of pins.fieldsOf(difference)) {
    out.write(`  ${lineForTerminal(path, 200)}\n`);
    if (before !== undefined) out.write(`${style.bad(`  - ${forTerminal(before)}`)}\n`);
    if (after !== undefined) out.write(`${style.good(`  + ${forTerminal(after)}`)}\n`);
  }
}

async function accept(pins: Stored, named: string | undefined, json: boolean, out: Output): Promise<number> {
  if (named === undefined) throw new UsageError('Usage: mooring gateway pins accept SERVER[/TOOL]');
  const meant = pins.list().differences.filter(matcher(pins, named));
  if (meant.length === 0)
    throw new UsageError(
      `There is nothing to accept for ${JSON.stringify(named)}. "mooring gateway pins diff" lists the changes`,
    );
  for (const { identity, slug, tool } of meant) pins.accept(identity, slug, tool);
  await pins.saved();
  const slugs = new Set(meant.map(({ slug }) => slug));
  // Running gateways show the accepted tools without a restart.
  for (const gateway of await runningGateways()) {
    for (const { slug } of await gateway.status()) if (slugs.has(slug)) await gateway.recheck(slug);
  }
  if (json) out.json({ accepted: meant.map(({ slug, tool }) => ({ server: slug, tool })) });
  else for (const { slug, tool } of meant) out.write(`${slug}/${lineForTerminal(tool, 80)} was accepted\n`);
  return 0;
}
