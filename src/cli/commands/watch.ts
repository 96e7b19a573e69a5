// mooring watch: prints a line for each change of a resource or list.

import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import type { Client } from '../../client/index.ts';
import { connectionFlags, connectionHelp, describe, targetHelp, withServer } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import { showResource } from '../client/print-content.ts';
import { SavedFiles } from '../client/saved-files.ts';
import { command } from '../command.ts';

const help = `Usage: mooring watch <server> [uri …] [options]

Prints a line whenever one of these resources changes, until you press Ctrl-C. Without a URI, watches the lists of
tools, resources and prompts.

Options:
  --read            print the contents of the resources now, and again after each change
  -n, --count N     stop after N changes

${targetHelp}
${connectionHelp}`;

const options = {
  ...connectionFlags,
  read: { type: 'boolean' },
  count: { type: 'string', short: 'n' },
} as const;

export const run = command({ name: 'watch', help, options }, async ({ values, positionals, out }) => {
  const [target, ...uris] = positionals;
  await requireQuotes({ command: 'watch' }, positionals, values.config);
  if (target === undefined) throw new UsageError('Usage: mooring watch <server> [uri …]');
  const limit = values.count === undefined ? Number.POSITIVE_INFINITY : Number(values.count);
  if (!(limit >= 1)) throw new UsageError(`--count must be a number of 1 or more, not ${JSON.stringify(values.count)}`);
  const work = async (client: Client, signal: AbortSignal): Promise<number> => {
    const kinds = (['tools', 'resources', 'prompts'] as const).filter((kind) => client.announces(kind));
    if (uris.length === 0 && kinds.length === 0)
      throw new UsageError('This server does not announce changes of its lists. Name a resource to watch');
    const filter = uris.length > 0 ? { uris } : Object.fromEntries(kinds.map((kind) => [kind, true]));
    const changes = await client.watch(filter, { signal });
    const files = new SavedFiles(undefined);
    const show = async (uri: string): Promise<void> => {
      const { contents } = await client.readResource(uri, { signal, cache: 'refresh' });
      for (const each of contents) showResource(each, out, files);
    };
    out.info(`${describe(client)}\nwaiting for changes of: ${uris.length > 0 ? uris.join(', ') : kinds.join(', ')}\n`);
    if (values.read === true) for (const uri of uris) await show(uri);
    let count = 0;
    for await (const { kind, uri, missed } of changes) {
      if (values.json === true) out.write(`${JSON.stringify({ time: new Date().toISOString(), kind, uri, missed })}\n`);
      else {
        const what = uri === undefined ? `the list of ${kind}` : lineForTerminal(uri, 2000);
        const how = missed === true ? 'may have changed while the connection was lost' : 'changed';
        out.write(`${out.style.faint(new Date().toLocaleTimeString('sv'))}  ${out.style.name(what)} ${how}\n`);
      }
      if (values.read === true && uri !== undefined) await show(uri);
      if (++count >= limit) break;
    }
    return signal.aborted ? 130 : 0;
  };
  return withServer(target, values, out, work, {}, { endless: true });
});
