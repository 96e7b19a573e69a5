// The configuration of a gateway after decoding: every key has its value or its default. Only types; how a file
// becomes this is in decode-gateway.ts.

import type { ServerEntry } from '../../client/index.ts';
import type { Json, Root, ToolAnnotations } from '../../protocol/model.ts';

/** A gateway: its servers in the order of the file, and its views. */
export interface GatewayConfig {
  /** The servers behind it, in the order of the file. */
  readonly servers: readonly UpstreamConfig[];
  /** The named views. The default view, with all servers, is `defaultView`. */
  readonly views: readonly ViewConfig[];
  /** The view at `/mcp`, with all servers. */
  readonly defaultView: ViewConfig;
  /** Which tools can be called by their bare name: those of servers with app pages, all that are unique, none. */
  readonly bareNames: BareNames;
  /** How long calls of a server that was removed or changed may still run. */
  readonly drainMs: number;
  /** How long a list waits for a server that was never seen before. */
  readonly firstListMs: number;
  /** Whether lists are kept on disk between two starts. */
  readonly catalog: boolean;
}

/** Tools without the prefix of their server: those that app pages call, all whose name is unique, or none. */
export type BareNames = 'apps' | 'unique' | 'off';

/** Which callers share a connection to a server: all, those of one principal, of one session, or none. */
export type Isolation = 'shared' | 'principal' | 'session' | 'call';

/** A kind of input request. */
export type InputKind = 'elicitation' | 'sampling' | 'roots';

/** Names (globs) that are shown; what is excluded is not shown, even if it is included. */
export interface ItemFilter {
  /** Absent: all. */
  readonly include?: readonly string[] | undefined;
  /** Empty: none. */
  readonly exclude: readonly string[];
}

/** How a tool is shown, where that differs from its server's definition. */
export interface ToolOverride {
  /** Its name at the gateway, before the prefix is added. */
  readonly name?: string | undefined;
  /** Absent: as the server has it. */
  readonly title?: string | undefined;
  /** Absent: as the server has it. */
  readonly description?: string | undefined;
  /** Absent: as the server has them. */
  readonly annotations?: ToolAnnotations | undefined;
  /** Arguments that are not shown and that callers cannot send. */
  readonly hideArguments: readonly string[];
  /** Values that are sent with every call; these arguments are not shown and callers cannot send them. */
  readonly defaults: Readonly<Record<string, Json>>;
  /** Whether calls may run as tasks of the gateway. Absent: as the server says. */
  readonly taskSupport?: 'forbidden' | 'optional' | 'required' | undefined;
}

/** When a server that ended is started again. */
export interface RestartConfig {
  /** The pause before the first restart; it grows with each failure. Default 1 s. */
  readonly minMs: number;
  /** The longest pause. Default 60 s. */
  readonly maxMs: number;
  /** After this many failures within `withinMs` it is down. */
  readonly tries: number;
  /** Default 5 minutes. */
  readonly withinMs: number;
}

/** How the gateway authenticates to a server. */
export type UpstreamAuth =
  | { readonly kind: 'none' }
  /** The headers of the entry. */
  | { readonly kind: 'headers' }
  | {
      readonly kind: 'oauth';
      readonly scopes?: readonly string[] | undefined;
      readonly clientId?: string | undefined;
      readonly clientSecret?: string | undefined;
      /** The only authorization server that gets the secret. */
      readonly issuer?: string | undefined;
      readonly resource?: string | undefined;
      readonly extraParams?: Readonly<Record<string, string>> | undefined;
    }
  | ({ readonly kind: 'client-credentials'; readonly issuer?: string | undefined } & GatewayClient)
  /** The token of the caller is exchanged for one that the server accepts (RFC 8693). */
  | ({
      readonly kind: 'token-exchange';
      /** The authorization server that gets the token of the caller, and no other. */
      readonly issuer: string;
      /** Default `access_token`. */
      readonly subjectTokenType?: 'access_token' | 'jwt' | undefined;
    } & GatewayClient);

/** The gateway as a client of an authorization server, with credentials of its own. */
interface GatewayClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** PEM file of the key that signs the assertion, instead of a secret. */
  readonly privateKeyFile?: string | undefined;
  readonly keyAlgorithm?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly resource?: string | undefined;
  readonly extraParams?: Readonly<Record<string, string>> | undefined;
}

/** The sandbox of a command. */
export interface UpstreamSandbox {
  /** Folders that the program can read. */
  readonly readOnly: readonly string[];
  /** Folders that the program can read and write. */
  readonly writable: readonly string[];
  /** `none`: only a loopback interface of its own. */
  readonly network: 'none' | 'host';
}

/** One server behind the gateway. */
export interface UpstreamConfig {
  /** The name of the entry. */
  readonly name: string;
  /** Unique; the text before `__` in names, and the last part of `/mcp/s/<slug>`. */
  readonly slug: string;
  /** SHA-256 of everything in this entry: an unchanged digest means an unchanged server. */
  readonly digest: string;
  /** SHA-256 of the slug and of the command with its arguments, or of the origin and path: what pins belong to. */
  readonly identity: string;
  /** What to connect to. */
  readonly entry: ServerEntry;
  /** It is not started, and has no tools. */
  readonly disabled: boolean;
  /** False: names without prefix, except where an earlier server has the same name. */
  readonly prefix: boolean;
  /** Which tools are shown, by the server's own names. */
  readonly tools: ItemFilter;
  /** Which prompts are shown, by the server's own names. */
  readonly prompts: ItemFilter;
  /** Globs of URIs and of URI templates. */
  readonly resources: ItemFilter;
  /** By the server's own name for the tool. */
  readonly override: Readonly<Record<string, ToolOverride>>;
  /** Which callers share a connection. Default `shared`, or `principal` if callers are authenticated. */
  readonly isolation: Isolation;
  /** `eager`: it starts with the gateway. Default `lazy`: when it is first needed. */
  readonly start: 'lazy' | 'eager';
  /** 0: never stopped. */
  readonly idleMs: number;
  /** When it is started again after it has ended. */
  readonly restart: RestartConfig;
  /** Processes of a command at a time, with an isolation other than `shared`. Default 8. */
  readonly maxProcesses: number;
  /** How long a call may take without progress. Default 60 s. */
  readonly timeoutMs: number;
  /** How long a call may take in all. Default 10 minutes. */
  readonly maxTimeoutMs: number;
  /** `auto` (default), `handshake` for revisions with `initialize` only, or a date. */
  readonly revision: string;
  /** How the gateway authenticates to it. */
  readonly auth: UpstreamAuth;
  /** Lower case. */
  readonly forwardHeaders: readonly string[];
  /** Returned when no client can be asked. */
  readonly roots: readonly Root[] | undefined;
  /** The input requests of the server that may be passed on. */
  readonly asks: readonly InputKind[];
  /** What happens if a tool has changed since it was accepted. `block`: it cannot be called. Default `warn`. */
  readonly pin: 'off' | 'warn' | 'block';
  /** `hold`: new tools are not shown until they are accepted. Default `allow`. */
  readonly newTools: 'allow' | 'hold';
  /** How often lists are read again if the server does not announce changes. Default 5 minutes. */
  readonly refreshMs: number;
  /** The largest result that is passed on. Default 8 MiB. */
  readonly maxResultBytes: number;
  /** `/readyz` fails while it is down. Default false. */
  readonly required: boolean;
  /** Validate arguments here, before the server does. */
  readonly validate: boolean;
  /** Send the name and version of the caller's client in `_meta["mooring/client"]`. */
  readonly identify: boolean;
  /** Variables of our environment that a command gets besides the minimum and `env`. */
  readonly inheritEnv: readonly string[];
  /** The sandbox of a command; undefined: none. */
  readonly sandbox: UpstreamSandbox | undefined;
}

/** A selection of servers and their items, with an address of its own: `/mcp/v/<name>`. */
export interface ViewConfig {
  /** Empty for the default view. */
  readonly name: string;
  /** Slugs; `*`: all. */
  readonly servers: readonly string[] | '*';
  /** Globs of exposed names. */
  readonly tools: ItemFilter;
  /** Globs of exposed names. */
  readonly prompts: ItemFilter;
  /** Globs of URIs and URI templates. */
  readonly resources: ItemFilter;
  /** `search`: lists show `shortList` and the search tools. `auto`: search if the list exceeds `maxListBytes`. */
  readonly mode: 'all' | 'search' | 'auto';
  /** Exposed names that are listed although the view has search tools. */
  readonly shortList: readonly string[];
  /** A longer list of tools is reported, or makes the view a search view with `auto`. */
  readonly maxListBytes: number;
  /** Who may use the view. Absent: every caller that may use the gateway. */
  readonly allow: ViewAccess | undefined;
  /** `when-slow`: slow calls of servers without tasks become tasks of the gateway. */
  readonly tasks: 'by-server' | 'when-slow';
  /** Put before the instructions of the servers. */
  readonly instructions: string | undefined;
}

/** A caller that has one of these ids, or all of these scopes. */
export interface ViewAccess {
  /** Globs of principal ids. */
  readonly principals: readonly string[];
  /** A caller must have all of them. */
  readonly scopes: readonly string[];
}
