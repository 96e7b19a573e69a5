// mooring gateway: serves the servers of configuration files behind one endpoint, and the commands about that.

import { serveGateway } from '../../app/gateway/serve-gateway.ts';
import { UsageError } from '../../app/usage-error.ts';
import { readArgs } from '../parse-args.ts';
import { settingsFlags, toFlagValues } from '../settings-flags.ts';

const help = `Usage: mooring gateway [--config FILE]… [--view NAME] [options]
       mooring gateway [options] -- command …
       mooring gateway URL [options]
       mooring gateway <check|status|tools|restart|pins|import|login|logout> …

Serves all servers of a configuration file as one server, over stdio or HTTP, whatever protocol revision and transport
each of them uses. FILE is the file of any client (mcpServers, servers of VS Code, TOML of Codex) or mooring.json;
default: your user configuration. With a command or a URL, it serves that one server over another transport, and for
clients of every revision.

Addresses with --http:  /mcp  all servers    /mcp/v/<view>  a view    /mcp/s/<server>  one server, with its own names

Options:
  --config FILE    servers to offer; repeatable
  --view NAME      the view to serve at /mcp, or on stdio
  --http           serve over HTTP; --port, --host, --token and all other options of "mooring serve" apply
  -h, --help       show this help

Commands:
  check            read the files and show what would be started
  status           show the servers of the running gateway
  tools [SERVER]   list the tools as clients see them
  restart SERVER   restart a server
  pins             list the accepted tools; "pins diff" shows changes, "pins accept" accepts them
  import           write the servers of a client into a file for the gateway
  login [SERVER]   store inputs and secrets, and sign in to a server; "logout" deletes them

Examples:
  mooring gateway --config ~/.cursor/mcp.json
  mooring gateway --config servers.json --http --port 8000
  mooring gateway --http -- npx -y @modelcontextprotocol/server-filesystem .
  mooring gateway https://example.com/mcp
`;

const subcommands: Readonly<Record<string, () => Promise<{ run(args: readonly string[]): Promise<number> }>>> = {
  check: () => import('../gateway/check.ts'),
  status: () => import('../gateway/status.ts'),
  tools: () => import('../gateway/tools.ts'),
  restart: () => import('../gateway/restart.ts'),
  pins: () => import('../gateway/pins.ts'),
  import: () => import('../gateway/import.ts'),
  login: () => import('../gateway/login.ts'),
  logout: () => import('../gateway/logout.ts'),
};

export async function run(args: readonly string[]): Promise<number> {
  const [first = '', ...rest] = args;
  if (Object.hasOwn(subcommands, first))
    return (await (subcommands[first] as (typeof subcommands)[string])()).run(rest);
  const split = args.indexOf('--');
  const command = split === -1 ? undefined : args.slice(split + 1);
  const { values, positionals } = readArgs('gateway', split === -1 ? args : args.slice(0, split), {
    ...settingsFlags(),
    config: { type: 'string', multiple: true },
    view: { type: 'string' },
    'show-setup': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const);
  if (values.help === true) {
    const { openOutput } = await import('../ui/output.ts');
    openOutput().write(help);
    return 0;
  }
  const { config = [], view } = values;
  const single = await singleOf(positionals, command, config);
  if (single.target !== undefined && view !== undefined) {
    throw new UsageError('--view is for servers of a file; a single server has no views');
  }
  await serveGateway({
    files: config,
    ...(view === undefined ? {} : { view }),
    ...single,
    showSetup: values['show-setup'] === true,
    flags: toFlagValues(withoutOwn(values)),
  });
  return 0;
}

/** The one server of a command line or URL. */
async function singleOf(
  positionals: readonly string[],
  command: readonly string[] | undefined,
  config: readonly string[],
): Promise<{ readonly target?: string | readonly string[] }> {
  const [url, ...more] = positionals;
  if (url === undefined && command === undefined) return {};
  if (url !== undefined && !/^(https?|wss?):\/\//i.test(url)) throw await notOurs(url, positionals, command);
  if (config.length > 0) {
    throw new UsageError('Use --config for servers of a file, or name one server; not both');
  }
  if (command !== undefined) {
    if (url !== undefined) throw new UsageError('Name a URL or a command, not both');
    if (command.length === 0) throw new UsageError('A command is missing after --');
    return { target: command };
  }
  if (more.length > 0) throw new UsageError(`Name one URL, not ${positionals.join(', ')}`);
  return { target: url as string };
}

/** A word that is neither a command about gateways nor a URL. */
async function notOurs(
  word: string,
  words: readonly string[],
  command: readonly string[] | undefined,
): Promise<UsageError> {
  if (Object.hasOwn(subcommands, word)) return new UsageError(`The command comes first: mooring gateway ${word} …`);
  const { nearest } = await import('../../app/text/nearest.ts');
  const meant = nearest(word, Object.keys(subcommands));
  const line =
    command === undefined ? `. A command line goes after --, as in: mooring gateway -- ${words.join(' ')}` : '';
  return new UsageError(
    `${JSON.stringify(word)} is neither a command of "mooring gateway" nor a URL` +
      (meant === undefined ? line : `; did you mean ${JSON.stringify(meant)}?`),
  );
}

function withoutOwn(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const own = ['config', 'view', 'show-setup', 'help'];
  return Object.fromEntries(Object.entries(values).filter(([name]) => !own.includes(name)));
}
