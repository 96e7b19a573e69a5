// Shared by all client commands: connection options and opening the connection. How a command ends is ending.ts.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { plainReach, requireSafeCredentials } from '../../app/auth/plain-http.ts';
import { stderrCauseIn } from '../../app/doctor/stderr-causes.ts';
import { readFileOf } from '../../app/settings/read-file-of.ts';
import { findTarget, type NamedTarget } from '../../app/targets.ts';
import { forTerminal, lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import {
  AuthError,
  type AuthorizerOptions,
  type Client,
  ClientError,
  type ConnectOptions,
  connect,
  type InputHandlers,
} from '../../client/index.ts';
import { exitCodes } from '../report-error.ts';
import type { Output } from '../ui/output.ts';
import { styleFor } from '../ui/style.ts';
import { Ending } from './ending.ts';
import { WrongAnswer } from './input-requests.ts';

export const connectionFlags = {
  config: { type: 'string' },
  header: { type: 'string', multiple: true },
  token: { type: 'string' },
  env: { type: 'string', multiple: true },
  root: { type: 'string', multiple: true },
  revision: { type: 'string' },
  timeout: { type: 'string' },
  'no-login': { type: 'boolean' },
  'insecure-http': { type: 'boolean' },
  verbose: { type: 'boolean', short: 'v' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const connectionHelp = `Connection:
  --config FILE      configuration file with server names: mooring.json, .mcp.json, .vscode/mcp.json …
  --header 'N: V'    header for every request; repeatable
  --token TOKEN      bearer token; @FILE reads it from a file, env:NAME from the environment
  --no-login         do not sign in with the browser if the server requires it
  --insecure-http    send tokens over http:// to other machines too, where others on the network can read them
  --env NAME=VALUE   environment variable for a server that is started; repeatable
  --root DIR         folder to offer to the server as a root; repeatable
  --revision DATE    use this protocol revision instead of negotiating one
  --timeout SECONDS  time limit for the whole command, without the time you take to answer (default: 60 to connect and
                     60 for each response, longer while the server reports progress)
  -v, --verbose      show the server's log messages and stderr
  --json             print JSON
  -h, --help         show this help
`;

export const targetHelp = `<server> is a URL (http, https, ws, wss), a command line in quotes, a Mooring profile,
or a name in "mcpServers" of the configuration.
`;

export interface ConnectionValues {
  readonly config?: string;
  readonly header?: string[];
  readonly token?: string;
  readonly env?: string[];
  readonly root?: string[];
  readonly revision?: string;
  readonly timeout?: string;
  readonly 'no-login'?: boolean;
  readonly 'insecure-http'?: boolean;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

/** How a command treats its time. */
export interface TimeOptions {
  /** The command runs until it is stopped: `--timeout` applies to connecting and to each response, not to the whole. */
  readonly endless?: boolean;
  /** Runs before the connection is closed when the command is stopped; it has `stopMs` for that. */
  readonly onStop?: () => Promise<unknown> | undefined;
}

/** How long the end of a command may wait for `onStop`. */
const stopMs = 1_000;

/**
 * Connects, does the work, and leaves nothing running, whatever happens. Ctrl-C, SIGTERM and the end of `--timeout`
 * abort the signal, and the command ends whether its work heeds that or not.
 */
export async function withServer(
  target: string,
  values: ConnectionValues,
  out: Output,
  work: (client: Client, signal: AbortSignal) => Promise<number>,
  handlers: InputHandlers = {},
  { endless = false, onStop }: TimeOptions = {},
): Promise<number> {
  const seconds = values.timeout === undefined ? undefined : secondsOf(values.timeout);
  const found = await findTarget(target, values.config);
  const ending = new Ending(endless ? undefined : seconds);
  const { signal } = ending;
  let client: Client | undefined;
  const close = async (): Promise<void> => {
    if (signal.aborted) await tellServer(onStop);
    await client?.close({ graceMs: ending.graceMs });
  };
  let stopped: Promise<void> | undefined;
  signal.addEventListener('abort', () => {
    stopped = close();
  });
  try {
    const options = await connectOptions(found, values, ending.holdDuring(handlers), out);
    const times = seconds === undefined ? {} : { timeoutMs: seconds * 1_000, connectTimeoutMs: seconds * 1_000 };
    client = await connect(found.target as string, { ...options, ...times, signal, onHold: ending.hold });
    if (values.verbose === true) out.info(`${describe(client)}\n`);
    return await ending.during(work(client, signal));
  } catch (error) {
    if (ending.interrupted) return exitCodes.interrupted;
    throw hinted(error, found.target, values);
  } finally {
    await (stopped ?? close());
    ending.done();
  }
}

/** Waits for `onStop`, but not long; the command ends in any case. */
async function tellServer(onStop: TimeOptions['onStop']): Promise<void> {
  const telling = onStop?.();
  if (telling === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, stopMs);
  });
  await Promise.race([telling.catch(() => {}), late]);
  clearTimeout(timer);
}

/** Servers report a bug of their own without its reason. */
function isInternalError({ serverError }: ClientError): boolean {
  return serverError?.code === -32603 && serverError.message === 'Internal error';
}

/** The error with advice for users of the command line. */
export function hinted(error: unknown, target: NamedTarget['target'], { verbose = false }: ConnectionValues): unknown {
  if (error instanceof ClientError && error.code === 'configuration') return new UsageError(error.message);
  if (error instanceof ClientError && error.cause instanceof WrongAnswer) return new UsageError(error.cause.message);
  if (error instanceof ClientError && error.code === 'input-unavailable') {
    const [what = ''] = error.message.split(';');
    const advice = 'Run the command in a terminal, where you can answer; --answer fills in forms only';
    return new Error(`${what}\n${advice}`, { cause: error });
  }
  if (error instanceof ClientError && error.code === 'unauthorized') {
    const { status = 401, message = '' } = error.serverError ?? {};
    return new Error(
      `The server requires authorization (HTTP ${status}${message === '' ? '' : `, ${lineForTerminal(message)}`})\nPass a token that the server accepts: --token TOKEN, --token @FILE or --token env:NAME`,
      { cause: error },
    );
  }
  if (error instanceof ClientError && isInternalError(error) && !verbose) {
    const advice = 'The log of the server has the reason. If this command starts the server, -v shows the log';
    return new Error(`${error.message}\n${advice}`, { cause: error });
  }
  if (error instanceof ClientError && error.code === 'server-exited') {
    const cause = stderrCauseIn(error.stderr ?? '');
    return cause === undefined ? error : new Error(`${error.message}\n${cause.remedy}`, { cause: error });
  }
  if (error instanceof ClientError) {
    const advice = adviceOn(error, addressOf(target));
    if (advice === undefined) return error;
    const tried =
      verbose && error.tried.length > 0 ? `\nTried:\n${error.tried.map((each) => `  ${each}`).join('\n')}` : '';
    return new Error(`${advice}${tried}`, { cause: error });
  }
  if (!(error instanceof AuthError)) return error;
  if (error.code === 'insecure-url') {
    return new Error(
      `${error.message}\nUse https. To connect without encryption and without signing in, add --no-login`,
      { cause: error },
    );
  }
  return new Error(
    `${error.message}\nIf you have a token for this server, pass it with --token TOKEN, --token @FILE or --token env:NAME`,
    {
      cause: error,
    },
  );
}

/** What to do about an address where no server responds, in place of all that was tried. */
function adviceOn(
  { code, message, serverError, tried, cause }: ClientError,
  url: string | undefined,
): string | undefined {
  if (url === undefined) return undefined;
  const more = `"mooring doctor ${url}" finds out more`;
  if (code === 'connect-failed') return `${message}\nIs the server running, and is the address right? ${more}`;
  if (code === 'redirect-rejected') return `${message}\n${more}`;
  // `tried` is empty for a connection that was lost later.
  if (code === 'connection-lost' && tried.length > 0 && /^http:/i.test(url)) {
    return `${message}\nIf the server uses TLS, its address begins with https. ${more}`;
  }
  // Something that answers with an error of the protocol is an MCP server: its own words say what is wrong.
  if (code === 'connection-rejected' && cause instanceof ClientError) {
    return serverError?.status === undefined ? cause.message : `${cause.message}\n${more}`;
  }
  if (code !== 'not-mcp' && code !== 'http-error') return undefined;
  const status = serverError?.status === undefined ? '' : ` (HTTP ${serverError.status})`;
  return `There is no MCP server at ${url}${status}\nCheck the path: most servers use /mcp. ${more}, and -v shows what was tried`;
}

/** The options of a connection. `authFetch`: used for signing in. */
export async function connectOptions(
  { target, own }: NamedTarget,
  values: ConnectionValues,
  handlers: InputHandlers,
  out: Output,
  authFetch?: AuthorizerOptions['fetch'],
): Promise<ConnectOptions> {
  const headers = headersOf(values);
  const url = addressOf(target);
  const roots = values.root?.map((folder) => ({ uri: pathToFileURL(resolve(folder)).href, name: folder }));
  const style = styleFor(process.stderr);
  const insecure = values['insecure-http'] === true;
  const address = urlOf(target);
  const isLocal = address !== undefined && plainReach(address) === 'local-network';
  if (address !== undefined) {
    const hasCredentials = headers['Authorization'] !== undefined || hasAuthorization(target);
    requireSafeCredentials(address, hasCredentials, insecure);
    if (isLocal) {
      const withTokens = insecure ? '' : ' You are not signed in there; --insecure-http allows that.';
      out.info(
        `${style.warn('warning:')} the connection to ${new URL(address).host} is not encrypted: others on the network can read and change what is sent.${withTokens}\n`,
      );
    }
  }
  // Without encryption, tokens stay here; an address that is not in the local network is rejected by the authorizer.
  const signsIn = headers['Authorization'] === undefined && values['no-login'] !== true && (!isLocal || insecure);
  const authorizer = url === undefined || !signsIn ? undefined : await browserSignIn(url, insecure, authFetch);
  return {
    handlers: { ...handlers, ...(roots === undefined ? {} : { roots }) },
    headers,
    ...(own === true ? { inheritEnv: true } : {}),
    env: pairs(values.env ?? [], '--env'),
    ...(values.revision === undefined ? {} : { revision: values.revision }),
    ...(authorizer === undefined ? {} : { authorizer }),
    onUnexpectedOutput: (what) =>
      out.info(
        `${style.warn('warning:')} the server sent something that is not a protocol message: ${lineForTerminal(what)}\nA server on stdio must write its log to stderr, not to stdout.\n`,
      ),
    ...(values.verbose !== true
      ? {}
      : {
          onLog: ({ level, logger, data }) => {
            const text = typeof data === 'string' ? data : JSON.stringify(data);
            out.info(
              `${style.faint(`[${level}${logger === undefined ? '' : ` ${lineForTerminal(logger)}`}]`)} ${forTerminal(text)}\n`,
            );
          },
          onStderr: (text) => out.info(style.faint(forTerminal(text))),
        }),
  };
}

function urlOf(target: NamedTarget['target']): string | undefined {
  const text = typeof target === 'string' ? target : 'url' in target ? target.url : undefined;
  return text !== undefined && /^(https?|wss?):/i.test(text) ? text : undefined;
}

/** Whether an entry of the configuration contains a token. */
function hasAuthorization(target: NamedTarget['target']): boolean {
  const headers = typeof target === 'object' && 'headers' in target ? (target.headers ?? {}) : {};
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** The URL of a target that may require a sign-in. */
export function addressOf(target: NamedTarget['target']): string | undefined {
  const text = urlOf(target);
  return text !== undefined && /^http/i.test(text) ? text : undefined;
}

/** Opens the browser only if there is a terminal; stored tokens are used in any case. */
async function browserSignIn(
  server: string,
  allowInsecureHttp: boolean,
  authFetch: AuthorizerOptions['fetch'],
): Promise<ConnectOptions['authorizer']> {
  const { createAuthorizer, createFileStore } = await import('../../client/index.ts');
  const isInteractive = process.stdin.isTTY === true && process.stderr.isTTY === true;
  const redirector = isInteractive ? {} : ({ redirector: false } as const);
  const http = authFetch === undefined ? {} : { fetch: authFetch };
  return createAuthorizer({ server, store: createFileStore(), allowInsecureHttp, ...redirector, ...http });
}

export function headersOf({
  header = [],
  token,
}: {
  readonly header?: readonly string[] | undefined;
  readonly token?: string | undefined;
}): Record<string, string> {
  const given = Object.fromEntries(
    header.map((line) => {
      const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(line);
      if (match === null) throw new UsageError(`--header must look like 'Name: value', not ${JSON.stringify(line)}`);
      return [match[1]?.toLowerCase() === 'authorization' ? 'Authorization' : (match[1] as string), match[2] as string];
    }),
  );
  return token === undefined ? given : { Authorization: `Bearer ${secretOf(token)}`, ...given };
}

/** Never taken from the environment implicitly: that would send the token to any server that is named. */
function secretOf(text: string): string {
  if (text.startsWith('@')) return readFileOf('--token', text.slice(1)).trim();
  if (!text.startsWith('env:')) return text;
  const found = process.env[text.slice(4)];
  if (found === undefined || found === '')
    throw new UsageError(`--token: the environment variable ${text.slice(4)} is not set`);
  return found;
}

export function pairs(texts: readonly string[], flag: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((target) => {
      const at = target.indexOf('=');
      if (at <= 0) throw new UsageError(`${flag} must look like name=value, not ${JSON.stringify(target)}`);
      return [target.slice(0, at), target.slice(at + 1)];
    }),
  );
}

export function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new UsageError(`--timeout must be a number of seconds (up to 86400), not ${JSON.stringify(text)}`);
  return seconds;
}

/** The connected server, in one line. */
export function describe(client: Client): string {
  const { name = 'unnamed server', version = '' } = client.serverInfo ?? {};
  return `${lineForTerminal(`${name} ${version}`.trim())} · revision ${client.revision} · ${client.transport}`;
}
