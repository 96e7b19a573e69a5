// The AI clients that `mooring install` supports: their configuration files and the format of an entry. One row each.

import { posix, win32 } from 'node:path';
import type { Platform } from '../config/folders.ts';
import { UsageError } from '../usage-error.ts';

/** A server in a client's configuration: a program to start, or a URL. */
export type ClientConfigEntry =
  | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

export type Scope = 'user' | 'project';

export interface ClientRow {
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** The key of the servers in the file. */
  readonly key: string;
  /** The file; undefined if this client has none for the scope. */
  file(scope: Scope, at: Platform, folder: string): string | undefined;
  /** The entry in the format of this client. */
  encodeEntry(server: ClientConfigEntry): Readonly<Record<string, unknown>>;
  /** What the user has to do before the client loads the entry. */
  readonly afterwards: string;
}

const joinFor = (at: Platform) => (at.platform === 'win32' ? win32.join : posix.join);

/** Where desktop applications keep their settings. */
function appFolder(at: Platform): string {
  const join = joinFor(at);
  if (at.platform === 'win32') return at.env['APPDATA'] || join(at.home, 'AppData', 'Roaming');
  if (at.platform === 'darwin') return join(at.home, 'Library', 'Application Support');
  return at.env['XDG_CONFIG_HOME'] || join(at.home, '.config');
}

/** Omits empty fields. */
function tidy(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = Object.entries(fields).filter(([, value]) => {
    if (value === undefined) return false;
    return typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length > 0;
  });
  return Object.fromEntries(kept);
}

export const clients: Readonly<Record<string, ClientRow>> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    format: 'json',
    key: 'mcpServers',
    file: (scope, at) =>
      scope === 'user' ? joinFor(at)(appFolder(at), 'Claude', 'claude_desktop_config.json') : undefined,
    encodeEntry: (server) => {
      if ('url' in server) {
        throw new UsageError(
          'Claude Desktop accepts URLs only under Settings › Connectors. Leave out --url to let it start Mooring',
        );
      }
      return tidy(server);
    },
    afterwards: 'Restart Claude Desktop.',
  },
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    key: 'mcpServers',
    file: (scope, at, folder) =>
      scope === 'project'
        ? joinFor(at)(folder, '.mcp.json')
        : joinFor(at)(at.env['CLAUDE_CONFIG_DIR'] || at.home, '.claude.json'),
    encodeEntry: (server) => tidy({ type: 'url' in server ? 'http' : 'stdio', ...server }),
    afterwards: 'Restart Claude Code. /mcp shows the server.',
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    key: 'mcpServers',
    file: (scope, at, folder) => joinFor(at)(scope === 'project' ? folder : at.home, '.cursor', 'mcp.json'),
    encodeEntry: (server) => tidy(server),
    afterwards: 'Cursor loads it automatically. Settings › MCP shows the server.',
  },
  vscode: {
    title: 'VS Code',
    format: 'json',
    key: 'servers',
    file: (scope, at, folder) =>
      scope === 'project'
        ? joinFor(at)(folder, '.vscode', 'mcp.json')
        : joinFor(at)(appFolder(at), 'Code', 'User', 'mcp.json'),
    encodeEntry: (server) => tidy({ type: 'url' in server ? 'http' : 'stdio', ...server }),
    afterwards: 'Run "MCP: List Servers" in VS Code and start it there.',
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    key: 'mcp_servers',
    file: (scope, at, folder) =>
      scope === 'project'
        ? joinFor(at)(folder, '.codex', 'config.toml')
        : joinFor(at)(at.env['CODEX_HOME'] || joinFor(at)(at.home, '.codex'), 'config.toml'),
    encodeEntry: (server) => ('url' in server ? tidy({ url: server.url, http_headers: server.headers }) : tidy(server)),
    afterwards: 'Restart Codex. /mcp shows the server.',
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    key: 'mcpServers',
    file: (scope, at, folder) => joinFor(at)(scope === 'project' ? folder : at.home, '.gemini', 'settings.json'),
    // In Gemini CLI, `url` means the older HTTP+SSE transport.
    encodeEntry: (server) => ('url' in server ? tidy({ httpUrl: server.url, headers: server.headers }) : tidy(server)),
    afterwards: 'Restart Gemini CLI. /mcp shows the server.',
  },
};

/** Other names people type. */
export const clientAliases: Readonly<Record<string, string>> = {
  claude: 'claude-desktop',
  'vs-code': 'vscode',
  code: 'vscode',
  'gemini-cli': 'gemini',
};
