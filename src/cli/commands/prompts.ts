// mooring prompts: the prompts a server offers.

import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { connectionFlags, connectionHelp, targetHelp, withServer } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import type { Prompt } from '../client/types.ts';
import { command } from '../command.ts';
import { type Column, table } from '../ui/table.ts';

const help = `Usage: mooring prompts <server> [options]

Lists the prompts of a server.

${targetHelp}
${connectionHelp}`;

export const run = command(
  { name: 'prompts', help, options: connectionFlags },
  async ({ values, positionals, out }) => {
    const [target, ...more] = positionals;
    await requireQuotes({ command: 'prompts' }, positionals, values.config);
    if (target === undefined || more.length > 0) throw new UsageError('Usage: mooring prompts <server>');
    return withServer(target, values, out, async (client, signal) => {
      const prompts = client.capabilities['prompts'] === undefined ? [] : await client.listPrompts({ signal });
      if (values.json === true) {
        out.json(prompts);
        return 0;
      }
      if (prompts.length === 0) {
        out.info('This server has no prompts.\n');
        return 0;
      }
      const { style, width } = out;
      const columns: Column<Prompt>[] = [
        { title: 'prompt', text: ({ name }) => lineForTerminal(name, 128), paint: (text) => style.name(text) },
        {
          title: 'arguments',
          text: ({ arguments: list = [] }) =>
            list.map(({ name, required }) => `${lineForTerminal(name, 64)}${required === true ? '' : '?'}`).join(', '),
          paint: (text) => style.faint(text),
        },
        { title: 'description', text: ({ description, title }) => lineForTerminal(description ?? title ?? '', 300) },
      ];
      out.write(table(prompts, columns, { style, width }));
      return 0;
    });
  },
);
