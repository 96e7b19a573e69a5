// mooring resources: lists the resources and resource templates of a server.

import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { connectionFlags, connectionHelp, targetHelp, withServer } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import { formatBytes } from '../client/saved-files.ts';
import { command } from '../command.ts';
import { type Column, table } from '../ui/table.ts';

const help = `Usage: mooring resources <server> [options]

Lists the resources and resource templates of a server.

${targetHelp}
${connectionHelp}`;

interface ResourceRow {
  readonly uri: string;
  readonly type: string;
  readonly about: string;
}

export const run = command(
  { name: 'resources', help, options: connectionFlags },
  async ({ values, positionals, out }) => {
    const [target, ...more] = positionals;
    await requireQuotes({ command: 'resources' }, positionals, values.config);
    if (target === undefined || more.length > 0) throw new UsageError('Usage: mooring resources <server>');
    return withServer(target, values, out, async (client, signal) => {
      const offered = client.capabilities['resources'] !== undefined;
      const resources = offered ? await client.listResources({ signal }) : [];
      const resourceTemplates = offered ? await client.listResourceTemplates({ signal }) : [];
      if (values.json === true) {
        out.json({ resources, resourceTemplates });
        return 0;
      }
      if (resources.length + resourceTemplates.length === 0) {
        out.info('This server has no resources.\n');
        return 0;
      }
      const about = (item: { name: string; title?: string; description?: string }): string =>
        lineForTerminal([item.title ?? item.name, item.description].filter(Boolean).join(': '), 300);
      const rows: ResourceRow[] = [
        ...resources.map((each) => ({
          uri: lineForTerminal(each.uri, 500),
          type: [each.mimeType, each.size === undefined ? undefined : formatBytes(each.size)]
            .filter(Boolean)
            .join(', '),
          about: about(each),
        })),
        ...resourceTemplates.map((each) => ({
          uri: lineForTerminal(each.uriTemplate, 500),
          type: `${each.mimeType ?? ''} (template)`.trim(),
          about: about(each),
        })),
      ];
      const { style, width } = out;
      const columns: Column<ResourceRow>[] = [
        { title: 'uri', text: (row) => row.uri, paint: (text) => style.name(text) },
        { title: 'type', text: (row) => lineForTerminal(row.type, 100), paint: (text) => style.faint(text) },
        { title: 'about', text: (row) => row.about },
      ];
      out.write(table(rows, columns, { style, width }));
      return 0;
    });
  },
);
