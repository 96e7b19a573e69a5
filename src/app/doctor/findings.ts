// The findings of `mooring doctor`: one row per id. Ids are stable, so that scripts and the documentation can name them.

/** `error`: it does not work. `warning`: it works here or in part, or an optional part is missing. */
export type Severity = 'ok' | 'warning' | 'error';

/** The result of a check. */
export interface DoctorFinding {
  readonly id: FindingId;
  readonly severity: Severity;
  /** What was checked: a part of this machine, a file or a server. */
  readonly group: string;
  readonly name: string;
  readonly detail: string;
  /** How to fix it; empty if nothing is needed. */
  readonly remedy: string;
}

/** A finding before it is known where it belongs. */
export interface Report {
  readonly id: FindingId;
  /** Default: the severity of the row. */
  readonly severity?: Severity;
  readonly detail: string;
  readonly remedy: string;
}

/** What each id means, for the documentation. Checks of this machine have the id of the check, whatever the result. */
export const findingKinds = {
  'node-version': { severity: 'error', about: 'Node.js is older than Mooring needs' },
  settings: { severity: 'error', about: 'the settings are invalid' },
  plugins: { severity: 'error', about: 'a plugin cannot be loaded or lacks a grant' },
  'data-folder': { severity: 'error', about: 'the data folder cannot be created or written' },
  'temporary-folder': { severity: 'error', about: 'no files can be created in the folder for temporary files' },
  sqlite: { severity: 'error', about: 'SQLite does not work' },
  redis: { severity: 'error', about: 'Redis cannot be used, or may lose what it stores' },
  tasks: { severity: 'error', about: 'tasks cannot be stored, or end with the server' },
  'audit-log': { severity: 'error', about: 'the audit log was changed or cannot be read' },
  clipboard: { severity: 'warning', about: 'the clipboard cannot be used' },
  'session-bus': { severity: 'warning', about: 'the D-Bus session bus does not respond' },
  'system-bus': { severity: 'warning', about: 'the D-Bus system bus does not respond' },
  'http-port': { severity: 'error', about: 'the HTTP port is in use or cannot be opened' },
  sandbox: { severity: 'warning', about: 'a layer of the sandbox does not work' },

  'config-missing': { severity: 'error', about: 'the configuration file does not exist' },
  'config-syntax': { severity: 'error', about: 'the file is not valid JSON or TOML' },
  'config-not-strict-json': { severity: 'warning', about: 'comments or trailing commas that the client may reject' },
  'config-wrong-key': { severity: 'error', about: 'the servers are under a key that the client does not read' },
  'config-empty': { severity: 'warning', about: 'the file has no servers' },
  'servers-not-started': { severity: 'warning', about: 'the file has more servers than are started' },
  'config-invalid-value': { severity: 'error', about: 'a value of an entry has the wrong type, or is missing' },
  'config-unknown-key': { severity: 'warning', about: 'an entry has a key that clients do not know' },
  'config-duplicate-key': { severity: 'warning', about: 'two entries have the same name; the last one counts' },
  'server-disabled': { severity: 'warning', about: 'the entry is switched off' },
  'env-missing': { severity: 'error', about: 'a variable that an entry refers to is not set' },
  'input-missing': { severity: 'warning', about: 'an input or a secret that the client asks for is not known here' },
  'env-placeholder': { severity: 'warning', about: 'a value is still a placeholder from an example' },

  'command-not-found': { severity: 'error', about: 'the program does not exist' },
  'command-not-executable': { severity: 'error', about: 'the file exists, but cannot be started' },
  'command-has-arguments': { severity: 'error', about: '"command" contains the arguments too' },
  'windows-command': { severity: 'error', about: 'a command written for another operating system' },
  'tilde-path': { severity: 'error', about: 'a path begins with ~, which only a shell expands' },
  'relative-path': { severity: 'warning', about: 'a relative path, which depends on the folder the client starts in' },
  'script-not-found': { severity: 'error', about: 'the script to run does not exist' },
  'folder-not-found': { severity: 'error', about: 'the working folder does not exist' },

  'server-ok': { severity: 'ok', about: 'the server works' },
  'exits-at-once': { severity: 'error', about: 'the server ends without an error message' },
  'server-crashed': { severity: 'error', about: 'the server ends with an error' },
  'module-not-found': { severity: 'error', about: 'a module of the server is not installed' },
  'package-not-found': { severity: 'error', about: 'npx or uvx cannot find the package' },
  'node-too-old': { severity: 'error', about: 'the server needs a newer Node.js' },
  'port-in-use': { severity: 'error', about: 'the server wants a port that is in use' },
  'permission-denied': { severity: 'error', about: 'the server may not read or write a file' },
  'env-required': { severity: 'error', about: 'the server needs an environment variable' },
  'stdout-output': { severity: 'warning', about: 'the server writes its log to stdout' },
  'lsp-framing': { severity: 'error', about: 'the server sends Content-Length headers, which MCP does not have' },
  'http-not-stdio': { severity: 'error', about: 'the command starts an HTTP server' },
  'no-response': { severity: 'error', about: 'no response in time' },
  'slow-start': { severity: 'warning', about: 'the start takes longer than some clients wait' },
  'protocol-version': { severity: 'error', about: 'no protocol version in common' },
  'not-mcp': { severity: 'error', about: 'something responds, but not as an MCP server' },
  'list-failed': { severity: 'error', about: 'the server connects, but cannot list its tools' },
  'tool-invalid': { severity: 'warning', about: 'a tool that clients leave out' },
  'no-features': { severity: 'warning', about: 'no tools, resources or prompts' },
  'connection-failed': { severity: 'error', about: 'any other failure' },

  'url-invalid': { severity: 'error', about: 'not a URL that can be used' },
  'wildcard-address': { severity: 'warning', about: '0.0.0.0 is an address to listen on, not to connect to' },
  'host-not-found': { severity: 'error', about: 'the name of the host cannot be resolved' },
  'connection-refused': { severity: 'error', about: 'no program listens on that port' },
  'tls-on-plain-http': { severity: 'error', about: 'https:// for a server without TLS' },
  'plain-http-on-tls': { severity: 'error', about: 'http:// for a server with TLS' },
  'certificate-expired': { severity: 'error', about: 'the certificate has expired' },
  'certificate-untrusted': { severity: 'error', about: 'the certificate is self-signed or of an unknown authority' },
  'certificate-wrong-host': { severity: 'error', about: 'the certificate is for another name' },
  'proxy-unreachable': { severity: 'error', about: 'HTTPS_PROXY or HTTP_PROXY is wrong or does not respond' },
  'proxy-rejected': {
    severity: 'error',
    about: 'the proxy of HTTPS_PROXY or HTTP_PROXY does not let the connection pass',
  },
  'proxy-for-loopback': { severity: 'warning', about: 'a proxy is set and NO_PROXY does not exclude this machine' },
  redirected: { severity: 'error', about: 'the server redirects to another origin' },
  'wrong-path': { severity: 'error', about: 'the endpoint is at another path, which was found' },
  'endpoint-not-found': { severity: 'error', about: 'there is no MCP endpoint at the usual paths' },
  'sign-in-required': { severity: 'error', about: 'the server requires credentials' },
  'token-rejected': { severity: 'error', about: 'the server rejects the credentials' },
  forbidden: { severity: 'error', about: 'the server denies access (403)' },
  'server-error': {
    severity: 'error',
    about: 'the server fails with an HTTP status of 5xx or 429, or with a JSON-RPC error',
  },
  'sse-transport': { severity: 'warning', about: 'the older HTTP+SSE transport' },
} as const satisfies Readonly<Record<string, { readonly severity: Severity; readonly about: string }>>;

export type FindingId = keyof typeof findingKinds;

/** Adds where a report belongs. */
export function toFinding(group: string, name: string, { id, severity, detail, remedy }: Report): DoctorFinding {
  return { id, severity: severity ?? findingKinds[id].severity, group, name, detail, remedy };
}
