// The settings of a server, after defaults, configuration file, environment and flags are merged.
// Contract only; config/resolve.ts fills it in.

import type { JsonObject } from '../../protocol/model.ts';

/** All settings of a server. Paths are absolute. */
export interface Settings {
  readonly profile: string;
  /** Folder for notes, counters, audit files and the worker registry. */
  readonly dataDir: string;
  /** The configuration file these come from, where there is one. */
  readonly configFile?: string | undefined;
  /** Folders whose files tools and `file://` resources offer; none = no files. */
  readonly roots: readonly string[];
  /** Folders with Agent Skills; none = no skills. */
  readonly skills: readonly string[];
  /** Absent: no API is offered. */
  readonly openapi?: OpenApiSettings | undefined;
  /** Whether tools may change the files in the roots: in all of them, or, limited by a policy, in these folders. */
  readonly write?: boolean | readonly string[];
  /** OpenTelemetry; undefined: off. */
  readonly telemetry?: { readonly contents: boolean } | undefined;
  /** Programs `execute_command` may run; undefined = what the profile documents. */
  readonly allowedCommands: readonly string[] | undefined;
  /** Commands and workers in the default profile, where they are off by default. */
  readonly enable: { readonly commands: boolean; readonly workers: boolean };
  readonly audit: AuditSettings | undefined;
  /** The policy file, which controls access to tools, resources and prompts. */
  readonly policy?: string | undefined;
  /** Options of packs by pack name, validated by the pack. */
  readonly packs: JsonObject;
  readonly plugins: readonly PluginSettings[];
  /** Network limits for plugins and packs, from the policy. */
  readonly network?: NetworkBounds;
  readonly http?: HttpSettings;
  /** Redis, where replicas share it. Absent: state is in this process, or in the data folder. */
  readonly redis?: RedisSettings | undefined;
  readonly auth?: AuthSettings | undefined;
  /** Absent: there is no console. */
  readonly console?: ConsoleSettings | undefined;
}

/** An API whose operations are tools. */
export interface OpenApiSettings {
  /** The document that describes it: an absolute path, or a URL. */
  readonly document: string;
  /** Its address; undefined: the one in the document. */
  readonly url: string | undefined;
  /** The credential for the security scheme of the document. */
  readonly token: string | undefined;
}

/** The page that shows traffic. */
export interface ConsoleSettings {
  /** Of the console beside stdio; 0: a free one. */
  readonly port: number;
  readonly operate: boolean;
  readonly raw: boolean;
  readonly keep: boolean;
  /** Where MCP Apps are shown, for a console that is not on a loopback address. */
  readonly sandboxOrigin: string | undefined;
}

/** Same shape as in security/network. */
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
  /** What happens to calls while the log cannot be written: rejected, or run unrecorded. */
  readonly failureMode: 'closed' | 'open';
  /** All files of the log together; undefined = the default of the log. */
  readonly maxTotalBytes: number | undefined;
}

/** One plugin of the configuration: its source, its grants and its options. */
export interface PluginSettings {
  /** A folder (absolute) or the name of an npm package. */
  readonly source: string;
  readonly config?: unknown;
  /** Granted capabilities. A plugin that needs one that is missing here is not loaded. */
  readonly grant?: readonly string[];
  /** False: not loaded. */
  readonly enabled?: boolean;
}

/** Files in PEM format. */
export interface TlsSettings {
  readonly cert: string;
  readonly key: string;
}

/** What the server card says, besides what the server knows. */
export interface ServerCardSettings {
  readonly name: string;
  readonly description: string;
  readonly title: string | undefined;
  readonly websiteUrl: string | undefined;
  readonly repository: { readonly url: string; readonly source: string } | undefined;
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
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly metricsPath: string | undefined;
  /** Undefined: no card is published. */
  readonly serverCard?: ServerCardSettings | undefined;
  /** How long requests are still served after SIGTERM, while `/readyz` reports 503. */
  readonly drainDelayMs: number;
  /** The number of worker processes. Undefined: this process serves. */
  readonly workers?: number | 'auto' | undefined;
  /** Absent: plain HTTP. */
  readonly tls?: TlsSettings | undefined;
  /** Allow unauthenticated clients on a public address; only behind a proxy that authenticates. */
  readonly unsafeNoAuth: boolean;
  /** Seals sessions and states; replicas share it. Undefined: a random key per process. */
  readonly key: string | undefined;
  /** Earlier keys, still accepted for reading. */
  readonly previousKeys: readonly string[];
}

/** Redis or Valkey between replicas. */
export interface RedisSettings {
  readonly url: string;
  readonly password: string | undefined;
  readonly passwordFile: string | undefined;
  /** Files in the PEM format: authorities to trust, and the certificate of this server with its private key. */
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly sentinelPassword: string | undefined;
  readonly sentinelPasswordFile: string | undefined;
  /** The prefix of all keys. */
  readonly prefix: string | undefined;
  readonly waitReplicas: number;
  /** How long known sessions are served while it cannot be reached. */
  readonly maxStaleMs: number;
}

/** Authentication over HTTP. Absent: all local clients on a loopback address. */
export interface AuthSettings {
  /** Bearer tokens as given; anything that stores them stores a hash. */
  readonly tokens: readonly string[];
  /** A file of token hashes, created by `mooring token`. */
  readonly tokenFile: string | undefined;
  readonly oauth: OAuthSettings | undefined;
}

/** Tokens from an OAuth authorization server. */
export interface OAuthSettings {
  readonly issuer: string;
  /** The required audience of tokens. Default: the public URL. */
  readonly audience?: string;
  readonly jwksUrl?: string;
  /** A gateway as its client, where users sign in on pages of the gateway. Default: the gateway registers itself. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
}
