// mooring gateway tools: the tools as clients of the gateway see them.

import { settingsOfGateway } from '../../app/gateway/gateway-settings.ts';
import { knownTools } from '../../app/gateway/known-tools.ts';
import { findGateway, type ListedTool } from '../../app/gateway/running.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { table } from '../ui/table.ts';
import { findServer, type NamedServer } from './find-server.ts';

const help = `Usage: mooring gateway tools [SERVER] [options]

Lists the tools of the running gateway, or of one of its servers. Without a running gateway, or with --config, shows the
lists that were stored last. Of servers whose lists differ between callers, those of the callers that use the gateway now.

Options:
  --view NAME      the tools of this view
  --config FILE    read these files instead of asking the running gateway; repeatable
  --pid N          the gateway with this process id
  --json           print JSON
  -h, --help       show this help
`;

const options = {
  view: { type: 'string' },
  config: { type: 'string', multiple: true },
  pid: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const run = command(
  { name: 'gateway tools', help, options, maxWords: 1 },
  async ({ values, positionals, out }) => {
    const [server] = positionals;
    const view = values.view ?? '';
    const running = values.config === undefined ? await findGateway(values.pid) : undefined;
    const known: KnownTools =
      running === undefined
        ? await stored(values.config ?? [], view, out)
        : { tools: await running.tools(view), servers: await running.status() };
    const slug = server === undefined ? undefined : findServer<NamedServer>(server, known.servers).slug;
    const tools = slug === undefined ? known.tools : known.tools.filter((tool) => tool.server === slug);
    if (values.json === true) {
      out.json({ tools });
      return 0;
    }
    const isReported = values.view === undefined && reportUnlisted(slug, known, out);
    if (tools.length === 0) {
      if (slug === undefined) out.info('There are no tools.\n');
      else if (!isReported) out.info(`No tools of the server ${slug} are listed.\n`);
      return 0;
    }
    const { style, width } = out;
    type Row = (typeof tools)[number];
    const columns = [
      { title: 'tool', text: ({ name }: Row) => lineForTerminal(name, 64), paint: (text: string) => style.name(text) },
      { title: 'server', text: ({ server: from }: Row) => from },
      { title: 'description', text: ({ title, description }: Row) => lineForTerminal(description ?? title ?? '', 300) },
    ];
    out.write(table(tools, columns, { style, width }));
    return 0;
  },
);

interface KnownTools {
  readonly tools: readonly ListedTool[];
  /** `state`: of the servers of a running gateway. */
  readonly servers: readonly (NamedServer & { readonly state?: string })[];
}

/** States in which a server may have more than the gateway knows of. */
const unlistedStates = ['starting', 'degraded', 'needs-login', 'down'];

/** Names servers that cannot be used: a list without their tools would look as if they had none. Returns false if there are none. */
function reportUnlisted(slug: string | undefined, { tools, servers }: KnownTools, out: Output): boolean {
  const unlisted = servers.filter(
    ({ slug: own, state = '' }) =>
      (slug === undefined || slug === own) &&
      unlistedStates.includes(state) &&
      !tools.some(({ server }) => server === own),
  );
  if (unlisted.length === 0) return false;
  const names = unlisted.map(({ slug: own, state }) => `${own} (${state})`).join(', ');
  out.info(`No tools are listed of these servers: ${names}. "mooring gateway status" shows why\n`);
  return true;
}

async function stored(files: readonly string[], view: string, out: Output) {
  const { config, settings } = await settingsOfGateway({ files });
  const { tools, unknown, unstored } = knownTools(config, settings.dataDir, view);
  if (unknown.length > 0) out.info(`Not known yet, because no gateway has connected to them: ${unknown.join(', ')}\n`);
  if (unstored.length > 0) out.info(`Not stored, because their lists differ between callers: ${unstored.join(', ')}\n`);
  return { tools, servers: config.servers };
}
