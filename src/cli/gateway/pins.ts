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
       mooring gateway pins prune [SERVER] [options]

A gateway accepts tools when it first lists them, except with "newTools": "hold". "pins" lists the accepted tools and those
that have changed since; "diff" shows what changed; "accept" accepts the tools as they are now.

A server whose command, arguments or URL are changed is another server, with tools of its own. Those from before stay in the
list as "earlier command", for the case that you change it back, until "prune" removes them. If the server then gets that
command again, its tools are accepted when they are first seen. Commands that other configuration files have for servers with
the same name are not earlier, as long as these files exist.

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
    if (first === 'prune') return prune(pins, rest[0], json, out);
    if (rest.length > 0) throw new UsageError('Usage: mooring gateway pins [SERVER | diff | accept | prune]');
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
  const known = accepted.filter(isMeant).map(({ identity, isEarlier, ...pin }) => ({
    ...pin,
    state: state.get(`${identity} ${pin.tool}`) ?? ('accepted' as string),
    ...earlier(isEarlier),
  }));
  const others = differences
    .filter((each) => each.kind !== 'changed' && isMeant(each))
    .map(({ slug, tool, kind, isEarlier }) => ({
      ...{ slug, tool, fingerprint: '', acceptedAt: '', by: '', state: kind as string },
      ...earlier(isEarlier),
    }));
  const rows: readonly PinRow[] = [...known, ...others];
  if (json) {
    out.json({ tools: rows });
    return 0;
  }
  if (rows.length === 0) {
    out.info('No tools have been accepted yet. A gateway accepts tools when it first lists them.\n');
    return 0;
  }
  const { style, width } = out;
  const columns = [
    { title: 'server', text: ({ slug }: PinRow) => slug },
    { title: 'tool', text: ({ tool }: PinRow) => lineForTerminal(tool, 80), paint: (text: string) => style.name(text) },
    {
      title: 'state',
      text: (row: PinRow) => (row.earlierCommand === true ? 'earlier command' : row.state),
      paint: (text: string, row: PinRow) => (row.state === 'accepted' || row.earlierCommand ? text : style.warn(text)),
    },
    { title: 'accepted', text: ({ acceptedAt }: PinRow) => acceptedAt },
    { title: 'fingerprint', text: ({ fingerprint }: PinRow) => fingerprint.slice(0, 12) },
  ];
  out.write(table(rows, columns, { style, width }));
  if (rows.some(({ earlierCommand }) => earlierCommand === true)) {
    out.info(
      'Some tools are of a command or URL that their server had before. "mooring gateway pins prune" removes them.\n',
    );
  }
  return 0;
}

/** A row of the list, and of its JSON. */
interface PinRow {
  readonly slug: string;
  readonly tool: string;
  readonly fingerprint: string;
  readonly acceptedAt: string;
  readonly by: string;
  readonly state: string;
  /** It belongs to a command or URL that the server had before. */
  readonly earlierCommand?: true;
}

function earlier(isEarlier: boolean): Pick<PinRow, 'earlierCommand'> {
  return isEarlier ? { earlierCommand: true } : {};
}

/** What is different from what was accepted, of the commands that servers have now. */
function differencesOf(pins: Stored, named: string | undefined): readonly Difference[] {
  const isMeant = matcher(pins, named);
  return pins.list().differences.filter((each) => !each.isEarlier && isMeant(each));
}

function diff(pins: Stored, named: string | undefined, json: boolean, out: Output): number {
  const found = differencesOf(pins, named);
  if (json) {
    const rows = found.map(({ isEarlier: _isEarlier, ...each }) => ({ ...each, fields: pins.fieldsOf(each) }));
    out.json({ differences: rows });
  } else if (found.length === 0) out.info('No tool has changed since it was accepted.\n');
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
  const meant = differencesOf(pins, named);
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

/** Removes the tools of earlier commands of servers. */
async function prune(pins: Stored, named: string | undefined, json: boolean, out: Output): Promise<number> {
  if (named?.includes('/'))
    throw new UsageError(`Name a server, not a tool: mooring gateway pins prune ${named.split('/')[0]}`);
  if (!pins.isCertain)
    throw new Error(
      'A running gateway does not report the commands of its servers, so it is not known which ones are earlier. Restart that gateway, or end it',
    );
  const isMeant = matcher(pins, named);
  const { accepted, differences } = pins.list();
  const found = [...accepted, ...differences].filter((each) => each.isEarlier && isMeant(each));
  const tools = [...new Map(found.map((each) => [`${each.identity} ${each.tool}`, each])).values()];
  if (tools.length > 0) {
    pins.remove(new Set(tools.map(({ identity }) => identity)));
    await pins.saved();
  }
  if (json) out.json({ removed: tools.map(({ slug, tool }) => ({ server: slug, tool })) });
  else if (tools.length === 0) out.info('There are no tools of earlier commands or URLs.\n');
  for (const { slug, tool } of json ? [] : tools) {
    out.write(`${slug}/${lineForTerminal(tool, 80)} of an earlier command was removed\n`);
  }
  return 0;
}
