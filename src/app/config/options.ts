// All settings, one row each: key in mooring.json, flag, environment variable. The flags, the help, `mooring config` and
// the schema of the file are built from these rows; settings.ts says what the values mean.

/** How a value is written on the command line and in the environment. */
export type OptionKind = 'text' | 'path' | 'number' | 'bytes' | 'switch' | 'texts' | 'paths' | 'tree';

export interface Option {
  /** Key in the configuration file, with dots. */
  readonly key: string;
  readonly kind: OptionKind;
  readonly about: string;
  readonly section: 'what' | 'http' | 'auth' | 'log' | 'file';
  readonly flag?: string;
  /** Placeholder of the value in the help: `--port N`. */
  readonly metavar?: string;
  readonly env?: string;
  /** Allowed values. */
  readonly oneOf?: readonly string[];
  /** Never printed. */
  readonly secret?: boolean;
  readonly default?: unknown;
  /** A setting of HTTP or authentication that also has an effect on stdio. */
  readonly onStdio?: boolean;
  /** A security setting: an empty value is a usage error and never means "off". */
  readonly security?: boolean;
}

export const options: readonly Option[] = [
  { key: 'profile', kind: 'text', section: 'what', env: 'MOORING_PROFILE', about: 'profile to serve' },
  {
    key: 'roots',
    kind: 'paths',
    default: [],
    section: 'what',
    flag: 'root',
    metavar: 'DIR',
    about: 'offer the files in this folder as file:// resources; repeatable; default: none',
  },
  {
    key: 'enable',
    kind: 'texts',
    default: [],
    section: 'what',
    flag: 'enable',
    metavar: 'NAME',
    oneOf: ['commands', 'workers'],
    about: 'enable a feature that is off by default: commands, workers; repeatable',
  },
  {
    key: 'commands',
    kind: 'texts',
    section: 'what',
    flag: 'allow-command',
    metavar: 'NAME',
    about: 'a program that execute_command may run; replaces the list of the profile; repeatable',
  },
  {
    key: 'data',
    kind: 'path',
    section: 'what',
    flag: 'data',
    metavar: 'DIR',
    env: 'MOORING_DATA',
    about: 'folder for notes, counters and audit files',
  },
  {
    key: 'audit.file',
    kind: 'path',
    security: true,
    section: 'what',
    flag: 'audit',
    metavar: 'FILE',
    env: 'MOORING_AUDIT',
    about: 'audit log (default: audit.jsonl in the data folder)',
  },
  {
    key: 'audit.enabled',
    kind: 'switch',
    section: 'file',
    about: 'false disables the audit log, also for profiles that enable it',
  },
  {
    key: 'audit.fsync',
    kind: 'text',
    default: 'interval',
    section: 'file',
    oneOf: ['always', 'interval', 'never'],
    about: 'when audit lines are flushed to disk',
  },
  {
    key: 'audit.failureMode',
    kind: 'text',
    default: 'closed',
    section: 'file',
    oneOf: ['closed', 'open'],
    about: 'while audit lines cannot be written, calls are rejected (closed) or run unrecorded (open)',
  },
  {
    key: 'audit.maxTotalBytes',
    kind: 'bytes',
    section: 'file',
    about: 'the size of all files of the audit log together; the oldest are deleted',
  },
  {
    key: 'policy',
    kind: 'path',
    security: true,
    section: 'what',
    flag: 'policy',
    metavar: 'FILE',
    env: 'MOORING_POLICY',
    about: 'policy file that controls access (YAML or JSON)',
  },
  { key: 'packs', kind: 'tree', default: {}, section: 'file', about: 'options of packs, by pack name' },
  { key: 'plugins', kind: 'tree', default: [], section: 'file', about: 'plugins to load: source, grant, config' },
  {
    key: 'http.enabled',
    kind: 'switch',
    default: false,
    section: 'http',
    flag: 'http',
    env: 'MOORING_HTTP',
    about: 'serve over HTTP',
  },
  {
    key: 'http.host',
    kind: 'text',
    default: '127.0.0.1',
    section: 'http',
    flag: 'host',
    metavar: 'H',
    env: 'MOORING_HOST',
    about: 'address to listen on; addresses other than loopback require authentication',
  },
  {
    key: 'http.port',
    kind: 'number',
    default: 8000,
    section: 'http',
    flag: 'port',
    metavar: 'N',
    env: 'MOORING_PORT',
    about: 'port to listen on; 0 picks a free one',
  },
  {
    key: 'http.path',
    kind: 'text',
    default: '/mcp',
    section: 'http',
    flag: 'path',
    metavar: 'PATH',
    about: 'path of the MCP endpoint',
  },
  {
    key: 'http.allowedHosts',
    kind: 'texts',
    default: [],
    section: 'http',
    flag: 'allow-host',
    metavar: 'NAME',
    about: 'an additional Host header to accept; repeatable',
  },
  {
    key: 'http.allowedOrigins',
    kind: 'texts',
    default: [],
    section: 'http',
    flag: 'allow-origin',
    metavar: 'ORIGIN',
    about: 'a web origin whose pages may call this server; repeatable',
  },
  {
    key: 'http.publicUrl',
    kind: 'text',
    security: true,
    section: 'http',
    flag: 'public-url',
    metavar: 'URL',
    env: 'MOORING_PUBLIC_URL',
    about: 'public URL of this server, if it is behind a proxy',
  },
  {
    key: 'http.metricsPath',
    kind: 'text',
    section: 'http',
    flag: 'metrics',
    metavar: 'PATH',
    about: 'path of the Prometheus metrics, such as /metrics; off by default',
  },
  {
    key: 'http.unsafeNoAuth',
    kind: 'switch',
    default: false,
    section: 'http',
    flag: 'unsafe-no-auth',
    about: 'listen on a public address without authentication; only behind a proxy that authenticates',
  },
  {
    key: 'http.key',
    kind: 'text',
    security: true,
    section: 'http',
    env: 'MOORING_KEY',
    secret: true,
    about: 'key that seals sessions: 32 random bytes in base64, shared by replicas; default: a new key at each start',
  },
  {
    key: 'http.previousKeys',
    kind: 'texts',
    security: true,
    section: 'http',
    env: 'MOORING_KEY_PREVIOUS',
    secret: true,
    about: 'earlier keys whose sessions are still accepted, for key rotation',
  },
  {
    key: 'auth.tokens',
    kind: 'texts',
    security: true,
    section: 'auth',
    flag: 'token',
    metavar: 'TOKEN',
    env: 'MOORING_TOKEN',
    secret: true,
    about: 'a bearer token to accept; repeatable; prefer MOORING_TOKEN, because other users can see flags',
  },
  {
    key: 'auth.tokenFile',
    kind: 'path',
    onStdio: true,
    security: true,
    section: 'auth',
    flag: 'token-file',
    metavar: 'FILE',
    about: 'file of token hashes, created by "mooring token add"',
  },
  {
    key: 'auth.oauth.issuer',
    kind: 'text',
    security: true,
    section: 'auth',
    flag: 'auth-issuer',
    metavar: 'URL',
    about: 'accept tokens from this OAuth authorization server',
  },
  {
    key: 'auth.oauth.audience',
    kind: 'text',
    security: true,
    section: 'auth',
    flag: 'auth-audience',
    metavar: 'URI',
    about: 'required audience of these tokens (default: the public URL)',
  },
  {
    key: 'auth.oauth.jwksUrl',
    kind: 'text',
    security: true,
    section: 'auth',
    flag: 'auth-jwks',
    metavar: 'URL',
    about: 'URL of its signing keys (default: from its metadata)',
  },
  {
    key: 'auth.oauth.scopes',
    kind: 'texts',
    security: true,
    section: 'file',
    about: 'scopes that every request must have',
  },
  {
    key: 'log.level',
    kind: 'text',
    default: 'info',
    section: 'log',
    flag: 'log-level',
    metavar: 'LEVEL',
    env: 'MCP_LOG_LEVEL',
    about: 'debug, info, notice, warning, error or off',
  },
  {
    key: 'log.json',
    kind: 'switch',
    default: false,
    section: 'log',
    flag: 'log-json',
    env: 'MCP_LOG_JSON',
    about: 'log as JSON lines',
  },
  {
    key: 'mcpServers',
    kind: 'tree',
    default: {},
    section: 'file',
    about: 'servers that the client commands can use by name',
  },
];
