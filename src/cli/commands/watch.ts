// mooring watch: waits for changes and tells each of them.

import { lineForTerminal } from '../../app/foreign-text.ts';
import { Mistake } from '../../app/mistake.ts';
import { connectionFlags, connectionHelp, describe, targetHelp, withServer } from '../client/connection.ts';
import { SavedFiles } from '../client/saved-files.ts';
import { showResource } from '../client/show-content.ts';
import { openOutput } from '../ui/output.ts';
import { readArgs } from '../usage.ts';

const help = `Usage: mooring watch <server> [uri …] [options]

Tells when these resources change, until Ctrl-C. Without a uri: when the lists of tools, resources or prompts do.

Options:
  --read            print what a resource holds now, and again after each change
  -n, --count N     end after so many changes

${targetHelp}
${connectionHelp}`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('watch', args, {
    ...connectionFlags,
    read: { type: 'boolean' },
    count: { type: 'string', short: 'n' },
  });
  const out = openOutput();
  if (values.help === true) {
    out.write(help);
    return 0;
  }
  const [target, ...uris] = positionals;
  if (target === undefined) throw new Mistake('Usage: mooring watch <server> [uri …]');
  const limit = values.count === undefined ? Number.POSITIVE_INFINITY : Number(values.count);
  if (!(limit >= 1)) throw new Mistake(`--count must be a number from 1, not ${JSON.stringify(values.count)}`);
  return withServer(target, values, out, async (client, signal) => {
    const kinds = (['tools', 'resources', 'prompts'] as const).filter((kind) => client.announces(kind));
    if (uris.length === 0 && kinds.length === 0)
      throw new Mistake('This server announces no changes of its lists; name a resource');
    const filter = uris.length > 0 ? { uris } : Object.fromEntries(kinds.map((kind) => [kind, true]));
    const changes = await client.watch(filter, { signal });
    const files = new SavedFiles(undefined);
    const show = async (uri: string): Promise<void> => {
      const { contents } = await client.readResource(uri, { signal, cache: 'refresh' });
      for (const each of contents) showResource(each, out, files);
    };
    out.note(`${describe(client)}\nwaiting for changes of ${uris.length > 0 ? uris.join(', ') : kinds.join(', ')}\n`);
    if (values.read === true) for (const uri of uris) await show(uri);
    let count = 0;
    for await (const { kind, uri, gap } of changes) {
      if (values.json === true) out.write(`${JSON.stringify({ time: new Date().toISOString(), kind, uri, gap })}\n`);
      else {
        const what = uri === undefined ? `the list of ${kind}` : lineForTerminal(uri, 2000);
        const how = gap === true ? 'may have changed while the connection was lost' : 'changed';
        out.write(`${out.style.faint(new Date().toLocaleTimeString('sv'))}  ${out.style.name(what)} ${how}\n`);
      }
      if (values.read === true && uri !== undefined) await show(uri);
      if (++count >= limit) break;
    }
    return signal.aborted ? 130 : 0;
  });
}
