// What a run of Mooring is told to do, after defaults, configuration file, environment and flags are put together.
// Contract only; config/settle.ts fills it in.

/** Everything a profile may need to know. Paths are absolute. */
export interface Settings {
  readonly profile: string;
  /** Where notes, counters, audit files and the worker registry live. */
  readonly dataDir: string;
  /** The configuration file these come from, where there is one. */
  readonly configFile?: string | undefined;
  /** Folders whose files become `file://` resources; none = no files. */
  readonly roots: readonly string[];
  /** Programs `execute_command` may run; undefined = what the profile documents. */
  readonly allowedCommands: readonly string[] | undefined;
  /** Commands and workers in the default profile, which leaves them out unless asked. */
  readonly enable: { readonly commands: boolean; readonly workers: boolean };
  readonly audit: AuditSettings | undefined;
  /** The policy file: who may call what; undefined = what the profile documents. */
  readonly policy?: string | undefined;
  /** Options of packs by pack name, validated by the pack. */
  readonly packs: Readonly<Record<string, unknown>>;
  readonly plugins: readonly PluginSettings[];
  /** Where plugins may go, within what they are granted; from the policy. */
  readonly network?: NetworkBounds;
  readonly http?: HttpSettings;
  readonly auth?: AuthSettings | undefined;
}

/** As security/network has it. */
export interface NetworkBounds {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly hosts?: readonly string[];
  readonly ports?: readonly number[];
  readonly httpsOnly?: boolean;
}

export interface AuditSettings {
  readonly file: string;
  readonly fsync: 'always' | 'interval' | 'never';
}

/** One plugin of the configuration: where it is, what it may use, what it is told. */
export interface PluginSettings {
  /** A folder (absolute) or the name of an npm package. */
  readonly source: string;
  readonly config?: unknown;
  /** Capabilities granted; one that the plugin needs and that is missing here keeps the plugin out. */
  readonly grant?: readonly string[];
  /** Kept in the file but not loaded when false. */
  readonly enabled?: boolean;
}

/** How HTTP is served. */
export interface HttpSettings {
  /** False: stdio. */
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | undefined;
  readonly metricsPath: string | undefined;
  /** Serve strangers on a public address; only behind something that authenticates. */
  readonly unsafeNoAuth: boolean;
  /** Seals sessions and states; replicas share it. Undefined: made at start. */
  readonly key: string | undefined;
  /** Earlier keys: what they sealed is still opened. */
  readonly previousKeys: readonly string[];
}

/** Who may connect over HTTP. Absent: anybody who reaches a loopback address. */
export interface AuthSettings {
  /** Bearer tokens as given; anything that stores them stores a hash. */
  readonly tokens: readonly string[];
  /** A file of token hashes, made by `mooring token`. */
  readonly tokenFile: string | undefined;
  readonly oauth: OAuthSettings | undefined;
}

/** Tokens of an authorization server. */
export interface OAuthSettings {
  readonly issuer: string;
  /** What tokens must be made for. Default: the public URL. */
  readonly audience?: string;
  readonly jwksUrl?: string;
  readonly scopes?: readonly string[];
}
