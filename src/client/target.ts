// What the application may pass as a server, and its meaning: an address, and how to connect to it.

import { meantUrl } from '../common/meant-url.ts';
import { splitCommandLine } from './command-line.ts';
import { clientErrors } from './errors.ts';
import type { ClientLimits, ConnectOptions } from './options.ts';
import type { Transport } from './transports/transport.ts';

/** An entry of `mcpServers`, as most clients write it in their configuration. */
export interface ServerEntry {
  /** The transport. Default: `stdio` for a command; for a URL it is detected. */
  readonly type?: 'stdio' | 'http' | 'streamable-http' | 'sse' | 'ws' | 'websocket' | (string & {});
  /** The program to start, without a shell. */
  readonly command?: string;
  /** Its arguments. */
  readonly args?: readonly string[];
  /** Environment variables of the program besides a short list that it always gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder that it is started in. Default: that of this process. */
  readonly cwd?: string;
  /** The address of a running server: http, https, ws or wss. */
  readonly url?: string;
  /** Sent with every request to the URL. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A URL (http, https, ws, wss), a command line (a list of arguments, or a string that is split without a shell), an entry
 * of `mcpServers`, or a transport. A function that makes transports can reconnect, a single transport cannot.
 */
export type Target = string | URL | readonly string[] | ServerEntry | Transport | (() => Transport);

/** A target that is understood. */
export interface Destination {
  /** What messages call it. */
  readonly address: string;
  /** The key of the era cache; undefined where the address does not identify a server. */
  readonly eraKey: string | undefined;
  /** Can be connected to more than once. */
  readonly redial: boolean;
  /** May turn out to be the old transport of two endpoints. */
  readonly hasSse: boolean;
  /** Where to try when no server responds at this address. */
  readonly elsewhere?: Destination | undefined;
  dial(kind: 'usual' | 'sse'): Promise<Transport>;
}

/** Where nearly all servers have their endpoint. */
const usualPath = '/mcp';

/** Parses a target; throws a `ClientError` if it is invalid. */
export function toDestination(target: Target, options: ConnectOptions, limits: ClientLimits): Destination {
  if (typeof target === 'function') return ofTransport(target(), target, options);
  if (target instanceof URL) return ofUrl(target, undefined, options, limits);
  if (typeof target === 'string') return ofText(target, options, limits);
  if (Array.isArray(target)) return ofCommand(target as readonly string[], options, limits);
  if (typeof target !== 'object' || target === null) {
    throw clientErrors.configuration(
      'connect() needs a server: a URL, a command line such as "node server.mjs", an entry of mcpServers, or a transport',
    );
  }
  if (isTransport(target)) return ofTransport(target, undefined, options);
  if ('tool' in target) {
    throw clientErrors.configuration(
      'This is a server of the same process. Connect to it with connect(inMemory(server)); inMemory is exported by mooring/client',
    );
  }
  return ofEntry(target as ServerEntry, options, limits);
}

function ofText(text: string, options: ConnectOptions, limits: ClientLimits): Destination {
  const trimmed = text.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(trimmed)?.[1];
  if (scheme === undefined) return ofCommand(splitCommandLine(trimmed), options, limits);
  if (!URL.canParse(trimmed)) throw clientErrors.configuration(`${JSON.stringify(trimmed)} is not a valid URL`);
  return ofUrl(new URL(trimmed), undefined, options, limits);
}

function ofEntry(entry: ServerEntry, options: ConnectOptions, limits: ClientLimits): Destination {
  const { type, command, url } = entry;
  if (typeof command === 'string' && command !== '') {
    if (url !== undefined) throw clientErrors.configuration('A server entry has either a command or a url, not both');
    if (entry.args !== undefined && !Array.isArray(entry.args)) {
      throw clientErrors.configuration('"args" of a server entry must be a list, with one string for each argument');
    }
    const env = { ...entry.env, ...options.env };
    const cwd = options.cwd ?? entry.cwd;
    return ofCommand(
      [command, ...(entry.args ?? [])],
      { ...options, env, ...(cwd === undefined ? {} : { cwd }) },
      limits,
    );
  }
  if (typeof url !== 'string') throw clientErrors.configuration(explainEntry(entry));
  const meant = meantUrl(url);
  if (meant !== undefined || !URL.canParse(url)) {
    const hint = meant === undefined ? '' : `: it needs a scheme, as in ${JSON.stringify(meant)}`;
    throw clientErrors.configuration(`${JSON.stringify(url)} is not a valid URL${hint}`);
  }
  const headers = { ...entry.headers, ...options.headers };
  return ofUrl(new URL(url), type === 'sse' ? 'sse' : undefined, { ...options, headers }, limits);
}

function explainEntry(entry: object): string {
  if ('mcpServers' in entry) return 'This is a whole configuration; connect to one entry of its mcpServers';
  const keys = Object.keys(entry).map((key) => JSON.stringify(key));
  return `A server entry needs a "command" or a "url"; it has ${keys.length === 0 ? 'neither' : `only ${keys.join(', ')}`}`;
}

function ofCommand(argv: readonly string[], options: ConnectOptions, limits: ClientLimits): Destination {
  const [program] = argv;
  if (program === undefined || program === '' || argv.some((each) => typeof each !== 'string' || each.includes('\0'))) {
    throw clientErrors.configuration('A command is a list of arguments, the first of which is a program');
  }
  const commandLine = argv.map(quoteArgument).join(' ');
  const address = options.serverName ?? commandLine;
  return {
    address,
    eraKey: `${options.cwd ?? process.cwd()} ${commandLine}`,
    redial: true,
    hasSse: false,
    async dial() {
      const { StdioTransport } = await import('./transports/stdio.ts');
      return new StdioTransport(address, argv as readonly [string, ...string[]], options, limits.maxMessageBytes);
    },
  };
}

function ofUrl(url: URL, kind: 'sse' | undefined, options: ConnectOptions, limits: ClientLimits): Destination {
  const { protocol } = url;
  if (url.username !== '' || url.password !== '') {
    throw clientErrors.configuration('Put credentials into headers or an authorizer, not into the URL');
  }
  if (protocol === 'ws:' || protocol === 'wss:') {
    return {
      address: options.serverName ?? url.href,
      eraKey: url.href,
      redial: true,
      hasSse: false,
      async dial() {
        const { WebSocketTransport } = await import('./transports/websocket.ts');
        return new WebSocketTransport(url, options, limits.maxMessageBytes);
      },
    };
  }
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw clientErrors.configuration(`${protocol}// is not supported; use http, https, ws, wss or a command line`);
  }
  return {
    address: options.serverName ?? url.href,
    eraKey: url.href,
    redial: true,
    hasSse: kind === undefined,
    elsewhere:
      kind === undefined && isBareOrigin(url) ? ofUrl(new URL(usualPath, url), kind, options, limits) : undefined,
    async dial(usual) {
      if (kind === 'sse' || usual === 'sse') {
        const { SseTransport } = await import('./transports/sse.ts');
        return new SseTransport(url, options, limits.maxMessageBytes);
      }
      const { HttpTransport } = await import('./transports/http.ts');
      return new HttpTransport(url, options, limits.maxMessageBytes);
    },
  };
}

/** An origin without a path, as users type it. */
function isBareOrigin({ pathname, search }: URL): boolean {
  return pathname === '/' && search === '';
}

function ofTransport(
  first: Transport,
  make: (() => Transport) | undefined,
  { serverName }: ConnectOptions,
): Destination {
  let unused: Transport | undefined = first;
  return {
    address: serverName ?? first.address,
    eraKey: undefined,
    redial: make !== undefined,
    hasSse: false,
    async dial() {
      const transport = unused ?? make?.();
      unused = undefined;
      if (transport === undefined) {
        throw clientErrors.configuration('A transport is used once; pass a function that makes one, to connect again');
      }
      return transport;
    },
  };
}

function isTransport(target: object): target is Transport {
  return typeof (target as Transport).open === 'function' && typeof (target as Transport).send === 'function';
}

/** An argument of a command line as a user would type it. */
function quoteArgument(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : JSON.stringify(text);
}
