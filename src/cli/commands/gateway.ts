// mooring gateway: serves the servers of configuration files behind one endpoint, and the commands about that.

import { resolve } from 'node:path';
import { serveGateway } from '../../app/gateway/serve-gateway.ts';
import { UsageError } from '../../app/usage-error.ts';
import { gatewayArgs } from '../gateway/gateway-args.ts';

const help = `Usage: mooring gateway [--config FILE]… [--view NAME] [options]
       mooring gateway [options] -- command …
       mooring gateway URL [options]
       mooring gateway <check|status|tools|restart|stop|pins|import|login|logout> …

Serves all servers of a configuration file as one server, over stdio or HTTP, whatever protocol revision and transport
each of them uses. FILE is the file of any client (mcpServers, servers of VS Code, TOML of Codex) or mooring.json;
default: your user configuration. With a command or a URL, it serves that one server over another transport, and for
clients of every revision.

Addresses with --http:  /mcp  all servers    /mcp/v/<view>  a view    /mcp/s/<server>  one server, with its own names

Options:
  --config FILE    servers to offer; repeatable
  --view NAME      the view to serve at /mcp, or on stdio
  --http           serve over HTTP; --port, --host, --token and all other options of "mooring serve" apply
  --socket PATH    serve the clients that connect to a Unix socket; "mooring connect" starts a gateway like that
  --idle-seconds N with --socket: end when no client has been connected for so long; default 600
  -h, --help       show this help

Commands:
  check            read the files and show what would be started
  status           show the servers of the running gateway
  tools [SERVER]   list the tools as clients see them
  restart SERVER   restart a server
  stop             end the gateway
  pins             list the accepted tools; "pins diff" shows changes, "pins accept" accepts them,
                   "pins prune" removes those of earlier commands
  import           write the servers of a client into a file for the gateway
  login [SERVER]   store inputs and secrets, and sign in to a server; "logout" deletes them

Examples:
  mooring gateway --config ~/.cursor/mcp.json
  mooring gateway --config servers.json --http --port 8000
  mooring gateway --http -- npx -y @modelcontextprotocol/server-filesystem .
  mooring gateway https://example.com/mcp
`;

/** As long as a timer of Node.js can be. */
const maxIdleSeconds = 2_000_000;

const subcommands: Readonly<Record<string, () => Promise<{ run(args: readonly string[]): Promise<number> }>>> = {
  check: () => import('../gateway/check.ts'),
  status: () => import('../gateway/status.ts'),
  tools: () => import('../gateway/tools.ts'),
  restart: () => import('../gateway/restart.ts'),
  stop: () => import('../gateway/stop.ts'),
  pins: () => import('../gateway/pins.ts'),
  import: () => import('../gateway/import.ts'),
  login: () => import('../gateway/login.ts'),
  logout: () => import('../gateway/logout.ts'),
};

export async function run(args: readonly string[]): Promise<number> {
  const [first = '', ...rest] = args;
  if (Object.hasOwn(subcommands, first))
    return (await (subcommands[first] as (typeof subcommands)[string])()).run(rest);
  const given = await gatewayArgs({ name: 'gateway', help }, args, Object.keys(subcommands), {
    'show-setup': { type: 'boolean' },
    socket: { type: 'string' },
    'idle-seconds': { type: 'string' },
  });
  if (given === undefined) return 0;
  const { values, sources, view } = given;
  await serveGateway({
    ...sources,
    ...(view === undefined ? {} : { view }),
    showSetup: values['show-setup'] === true,
    socket: socketOf(values),
  });
  return 0;
}

function socketOf(values: Readonly<Record<string, unknown>>) {
  const { socket, http, 'idle-seconds': idle } = values;
  if (socket === undefined) {
    if (idle !== undefined) throw new UsageError('--idle-seconds is for --socket');
    return undefined;
  }
  if (http === true) throw new UsageError('Use --http or --socket, not both');
  const seconds = idle === undefined ? undefined : Number(idle);
  if (seconds !== undefined && !(seconds >= 1 && seconds <= maxIdleSeconds)) {
    throw new UsageError(`--idle-seconds: ${idle} is not a number from 1 to ${maxIdleSeconds}`);
  }
  return { path: resolve(String(socket)), idleMs: seconds === undefined ? undefined : seconds * 1000 };
}
