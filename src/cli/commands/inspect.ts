// mooring inspect: the console for any server, in the browser.

import { UsageError } from '../../app/usage-error.ts';
import { connectionFlags, connectionHelp, connectOptions, hinted, targetHelp } from '../client/connection.ts';
import { readArgs } from '../parse-args.ts';
import { openOutput } from '../ui/output.ts';

const help = `Usage: mooring inspect <server>… [options]
       mooring inspect --config FILE [options]
       mooring inspect --wrap [options] -- COMMAND …
       mooring inspect --proxy URL [options]
       mooring inspect --open FILE [options]

Shows a server in the browser: its tools, resources and prompts with forms to try them, and every message.

  <server>      connect to it as a client; several servers are tabs of one page
  --config FILE without <server>: all servers of that file
  --wrap        run COMMAND for a client and show the messages between the two. Put this command into the client's
                configuration; bytes, signals and the exit code are passed on unchanged
  --proxy URL   the same for a server on HTTP: clients connect to the printed address
  --open FILE   show a recording

${targetHelp}
Console:
  --port N           port of the console (default: a free one)
  --proxy-port N     port of the proxy (default: a free one)
  --no-open          do not open the browser
  --read-only        view only: nothing can be called
  --record FILE      write every message to this new file; "--open FILE" shows it again
  --raw              show secrets

${connectionHelp}`;

const flags = {
  ...connectionFlags,
  wrap: { type: 'boolean' },
  proxy: { type: 'string' },
  open: { type: 'string' },
  port: { type: 'string' },
  'proxy-port': { type: 'string' },
  'no-open': { type: 'boolean' },
  'read-only': { type: 'boolean' },
  record: { type: 'string' },
  raw: { type: 'boolean' },
} as const;

export async function run(args: readonly string[]): Promise<number> {
  const split = args.indexOf('--');
  const command = split === -1 ? [] : args.slice(split + 1);
  const { values, positionals } = readArgs('inspect', split === -1 ? args : args.slice(0, split), flags);
  const out = openOutput();
  if (values.help === true) {
    out.write(help);
    return 0;
  }
  const settings = {
    port: portOf('--port', values.port),
    open: values['no-open'] !== true && process.stderr.isTTY === true,
    readOnly: values['read-only'] === true,
    raw: values.raw === true,
    recordFile: values.record,
  };
  checkWays(values, positionals, command);
  const app = await import('../../app/console/inspect.ts');
  if (values.wrap === true) return app.inspectWrapped(command, settings);
  if (values.proxy !== undefined) {
    return app.inspectThroughProxy(values.proxy, portOf('--proxy-port', values['proxy-port']), settings);
  }
  if (values.open !== undefined) return app.inspectRecording(values.open, settings);
  const { findTargets } = await import('../../app/targets.ts');
  // After "--" there is one command line, whatever its words are.
  const found =
    command.length > 0
      ? [{ label: [...positionals, ...command].join(' '), target: [...positionals, ...command] as readonly string[] }]
      : await findTargets(positionals, values.config);
  if (found.length > 1 && (values.token !== undefined || values.header !== undefined)) {
    throw new UsageError('--token and --header work with one server: they would be sent to all of them');
  }
  const targets = await Promise.all(
    found.map(async (each) => {
      const auth = app.recordAuthSteps(settings.raw);
      const connect = await connectOptions(each, values, {}, out, auth.fetch);
      const onFailed = (error: unknown, retries: boolean): void => {
        const { message } = hinted(error, each.target, values) as Error;
        const which = found.length > 1 ? `${each.label}: ` : '';
        out.info(
          `mooring: ${which}${message}\n${retries ? 'The console tries again until the server responds.\n' : ''}`,
        );
      };
      return { ...each, connect, auth: connect.authorizer === undefined ? undefined : auth, onFailed };
    }),
  );
  const [only] = targets;
  if (only === undefined) throw new UsageError(`${values.config} has no servers`);
  if (targets.length > 1) return app.inspectTargets(targets, settings);
  return app.inspectTarget(only, settings);
}

interface Ways {
  readonly wrap?: boolean;
  readonly proxy?: string;
  readonly open?: string;
  readonly config?: string;
}

/** Exactly one of the four ways. */
function checkWays(
  { wrap, proxy, open, config }: Ways,
  positionals: readonly string[],
  command: readonly string[],
): void {
  const chosen = [wrap === true, proxy !== undefined, open !== undefined].filter(Boolean).length;
  if (wrap === true && command.length === 0) {
    throw new UsageError('--wrap needs a command after "--": mooring inspect --wrap -- npx -y some-server');
  }
  const isTooMuch = chosen > 1 || (chosen === 1 && (positionals.length > 0 || (wrap !== true && command.length > 0)));
  if (isTooMuch)
    throw new UsageError('Give a server, --wrap, --proxy or --open, not several. See "mooring inspect --help"');
  if (chosen === 0 && positionals.length + command.length === 0 && config === undefined) {
    throw new UsageError('Usage: mooring inspect <server>. See "mooring inspect --help"');
  }
}

function portOf(flag: string, text: string | undefined): number {
  if (text === undefined) return 0;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${flag} must be a port from 0 to 65535, not ${JSON.stringify(text)}`);
}
