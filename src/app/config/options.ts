// Everything that can be set, one row each: its place in mooring.json, its flag, its variable. Flags, help, `mooring
// config` and the file's schema are read from these rows; what the values mean is settings.ts.

/** How a value is written on the command line and in the environment. */
export type OptionKind = 'text' | 'path' | 'number' | 'switch' | 'texts' | 'paths' | 'tree';

export interface Option {
  /** Place in the configuration file, dotted. */
  readonly key: string;
  readonly kind: OptionKind;
  readonly about: string;
  readonly section: 'what' | 'http' | 'auth' | 'log' | 'file';
  readonly flag?: string;
  /** What stands behind the flag in the help: `--port N`. */
  readonly metavar?: string;
  readonly env?: string;
  /** Allowed words. */
  readonly oneOf?: readonly string[];
  /** Never printed. */
  readonly secret?: boolean;
  /** Protects something: given but empty, it is a mistake and never means "off". */
  readonly security?: boolean;
}

export const options: readonly Option[] = [
  { key: 'profile', kind: 'text', section: 'what', env: 'MOORING_PROFILE', about: 'the ready-made server to run' },
  {
    key: 'roots',
    kind: 'paths',
    section: 'what',
    flag: 'root',
    metavar: 'DIR',
    about: 'offer the files below this folder as file:// resources; repeatable; none by default',
  },
  {
    key: 'enable',
    kind: 'texts',
    section: 'what',
    flag: 'enable',
    metavar: 'NAME',
    oneOf: ['commands', 'workers'],
    about: 'switch on what the profile leaves off: commands, workers; repeatable',
  },
  {
    key: 'commands',
    kind: 'texts',
    section: 'what',
    flag: 'allow-command',
    metavar: 'NAME',
    about: 'a program that execute_command may run, instead of those the profile documents; repeatable',
  },
  {
    key: 'data',
    kind: 'path',
    section: 'what',
    flag: 'data',
    metavar: 'DIR',
    env: 'MOORING_DATA',
    about: 'where notes, counters and audit files are kept',
  },
  {
    key: 'audit.file',
    kind: 'path',
    security: true,
    section: 'what',
    flag: 'audit',
    metavar: 'FILE',
    env: 'MOORING_AUDIT',
    about: 'the audit log; default audit.jsonl in the data folder',
  },
  {
    key: 'audit.enabled',
    kind: 'switch',
    section: 'file',
    about: 'false: no audit log, whatever the profile wants',
  },
  {
    key: 'audit.fsync',
    kind: 'text',
    section: 'file',
    oneOf: ['always', 'interval', 'never'],
    about: 'when audit lines are forced to the disk',
  },
  {
    key: 'policy',
    kind: 'path',
    security: true,
    section: 'what',
    flag: 'policy',
    metavar: 'FILE',
    env: 'MOORING_POLICY',
    about: 'who may call what, as a policy file (YAML or JSON)',
  },
  { key: 'packs', kind: 'tree', section: 'file', about: 'options of packs, by name of the pack' },
  { key: 'plugins', kind: 'tree', section: 'file', about: 'plugins to load: source, grant, config' },
  { key: 'http.enabled', kind: 'switch', section: 'http', flag: 'http', env: 'MOORING_HTTP', about: 'serve over HTTP' },
  {
    key: 'http.host',
    kind: 'text',
    section: 'http',
    flag: 'host',
    metavar: 'H',
    env: 'MOORING_HOST',
    about: 'address to listen on; anything but this machine needs authentication',
  },
  {
    key: 'http.port',
    kind: 'number',
    section: 'http',
    flag: 'port',
    metavar: 'N',
    env: 'MOORING_PORT',
    about: 'port to listen on; 0 picks a free one',
  },
  { key: 'http.path', kind: 'text', section: 'http', flag: 'path', metavar: 'PATH', about: 'path of the endpoint' },
  {
    key: 'http.allowedHosts',
    kind: 'texts',
    section: 'http',
    flag: 'allow-host',
    metavar: 'NAME',
    about: 'a further value of the Host header to let in; repeatable',
  },
  {
    key: 'http.allowedOrigins',
    kind: 'texts',
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
    about: 'where clients reach this server from outside',
  },
  {
    key: 'http.metricsPath',
    kind: 'text',
    section: 'http',
    flag: 'metrics',
    metavar: 'PATH',
    about: 'where Prometheus collects figures, for instance /metrics; off by default',
  },
  {
    key: 'http.unsafeNoAuth',
    kind: 'switch',
    section: 'http',
    flag: 'unsafe-no-auth',
    about: 'serve strangers on a public address; only behind something that authenticates',
  },
  {
    key: 'http.key',
    kind: 'text',
    security: true,
    section: 'http',
    env: 'MOORING_KEY',
    secret: true,
    about: '32 random bytes in base64 that seal sessions; replicas share them; default: made at start',
  },
  {
    key: 'http.previousKeys',
    kind: 'texts',
    security: true,
    section: 'http',
    env: 'MOORING_KEY_PREVIOUS',
    secret: true,
    about: 'earlier keys whose sessions are still accepted, for a change of the key without a gap',
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
    about: 'a bearer token that lets in; repeatable; prefer MOORING_TOKEN, since flags can be seen by other users',
  },
  {
    key: 'auth.tokenFile',
    kind: 'path',
    security: true,
    section: 'auth',
    flag: 'token-file',
    metavar: 'FILE',
    about: 'hashes of tokens, made by "mooring token"',
  },
  {
    key: 'auth.oauth.issuer',
    kind: 'text',
    security: true,
    section: 'auth',
    flag: 'auth-issuer',
    metavar: 'URL',
    about: 'accept tokens of this OAuth authorization server',
  },
  {
    key: 'auth.oauth.audience',
    kind: 'text',
    security: true,
    section: 'auth',
    flag: 'auth-audience',
    metavar: 'URI',
    about: 'what those tokens must be made for; default the public URL',
  },
  {
    key: 'auth.oauth.jwksUrl',
    kind: 'text',
    security: true,
    section: 'auth',
    flag: 'auth-jwks',
    metavar: 'URL',
    about: 'where its keys are; default: found through its metadata',
  },
  {
    key: 'auth.oauth.scopes',
    kind: 'texts',
    security: true,
    section: 'file',
    about: 'scopes every request must have',
  },
  {
    key: 'log.level',
    kind: 'text',
    section: 'log',
    flag: 'log-level',
    metavar: 'LEVEL',
    env: 'MCP_LOG_LEVEL',
    about: 'debug, info, notice, warning, error or off',
  },
  {
    key: 'log.json',
    kind: 'switch',
    section: 'log',
    flag: 'log-json',
    env: 'MCP_LOG_JSON',
    about: 'log in JSON lines',
  },
  { key: 'mcpServers', kind: 'tree', section: 'file', about: 'servers that client commands may call by name' },
];
