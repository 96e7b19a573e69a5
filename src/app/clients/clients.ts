// The AI clients that `mooring install` supports: their configuration files and the format of an entry. One row each.

import { existsSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
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
  /** Path of the object that holds the servers in the file. */
  readonly section: readonly string[];
  /** The same for a file with this content, where it depends on the version of the client. */
  sectionIn?(content: unknown): readonly string[];
  /** The client documents that its file may have comments and trailing commas. */
  readonly jsonc?: true;
  /** The file; undefined if this client has none for the scope. */
  file(scope: Scope, at: Platform, folder: string): string | undefined;
  /** Another name of the same file, used if only that one exists. */
  otherFile?(scope: Scope, at: Platform, folder: string): string | undefined;
  /** The entry in the format of this client. */
  encodeEntry(server: ClientConfigEntry): JsonObject;
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
function withoutEmpty(fields: JsonObject): JsonObject {
  const kept = Object.entries(fields).filter(([, value]) => {
    if (value === undefined) return false;
    return typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length > 0;
  });
  return Object.fromEntries(kept);
}

const clineSettings = ['saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'];

function clineEntry(server: ClientConfigEntry): JsonObject {
  return 'url' in server ? withoutEmpty({ type: 'streamableHttp', ...server }) : withoutEmpty(server);
}

function opencodeFile(scope: Scope, at: Platform, folder: string, name: string): string {
  const join = joinFor(at);
  // The same path on macOS and Windows.
  return scope === 'project'
    ? join(folder, name)
    : join(at.env['XDG_CONFIG_HOME'] || join(at.home, '.config'), 'opencode', name);
}

/** Whether "servers" in this object holds servers, rather than being a server of that name. */
export function hasServers(section: unknown): boolean {
  const inner = isObject(section) ? section['servers'] : undefined;
  return isObject(inner) && !('type' in inner && typeof inner['type'] === 'string');
}

export const clients: Readonly<Record<string, ClientRow>> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at) =>
      scope === 'user' ? joinFor(at)(appFolder(at), 'Claude', 'claude_desktop_config.json') : undefined,
    encodeEntry: (server) => {
      if ('url' in server) {
        throw new UsageError(
          'Claude Desktop accepts URLs only under Settings › Connectors. Leave out --url to let it start Mooring',
        );
      }
      return withoutEmpty(server);
    },
    afterwards: 'Restart Claude Desktop.',
  },
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at, folder) =>
      scope === 'project'
        ? joinFor(at)(folder, '.mcp.json')
        : joinFor(at)(at.env['CLAUDE_CONFIG_DIR'] || at.home, '.claude.json'),
    encodeEntry: (server) => withoutEmpty({ type: 'url' in server ? 'http' : 'stdio', ...server }),
    afterwards: 'Restart Claude Code. /mcp shows the server.',
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at, folder) => joinFor(at)(scope === 'project' ? folder : at.home, '.cursor', 'mcp.json'),
    encodeEntry: (server) => withoutEmpty(server),
    afterwards: 'Cursor loads it automatically. Settings › MCP shows the server.',
  },
  vscode: {
    title: 'VS Code',
    format: 'json',
    section: ['servers'],
    jsonc: true,
    file: (scope, at, folder) =>
      scope === 'project'
        ? joinFor(at)(folder, '.vscode', 'mcp.json')
        : joinFor(at)(appFolder(at), 'Code', 'User', 'mcp.json'),
    encodeEntry: (server) => withoutEmpty({ type: 'url' in server ? 'http' : 'stdio', ...server }),
    afterwards: 'Run "MCP: List Servers" in VS Code and start it there.',
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    section: ['mcp_servers'],
    file: (scope, at, folder) =>
      scope === 'project'
        ? joinFor(at)(folder, '.codex', 'config.toml')
        : joinFor(at)(at.env['CODEX_HOME'] || joinFor(at)(at.home, '.codex'), 'config.toml'),
    encodeEntry: (server) =>
      'url' in server ? withoutEmpty({ url: server.url, http_headers: server.headers }) : withoutEmpty(server),
    afterwards: 'Restart Codex. /mcp shows the server.',
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at, folder) => joinFor(at)(scope === 'project' ? folder : at.home, '.gemini', 'settings.json'),
    // In Gemini CLI, `url` means the older HTTP+SSE transport.
    encodeEntry: (server) =>
      'url' in server ? withoutEmpty({ httpUrl: server.url, headers: server.headers }) : withoutEmpty(server),
    afterwards: 'Restart Gemini CLI. /mcp shows the server.',
  },
  // https://docs.windsurf.com/windsurf/cascade/mcp
  windsurf: {
    title: 'Windsurf',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at) =>
      scope === 'user' ? joinFor(at)(at.home, '.codeium', 'windsurf', 'mcp_config.json') : undefined,
    encodeEntry: (server) =>
      'url' in server ? withoutEmpty({ serverUrl: server.url, headers: server.headers }) : withoutEmpty(server),
    afterwards: 'Press Refresh in the MCP panel of Cascade.',
  },
  // https://zed.dev/docs/ai/mcp, https://zed.dev/docs/configuring-zed
  zed: {
    title: 'Zed',
    format: 'json',
    section: ['context_servers'],
    jsonc: true,
    file: (scope, at, folder) => {
      const join = joinFor(at);
      if (scope === 'project') return join(folder, '.zed', 'settings.json');
      if (at.platform === 'win32') return join(appFolder(at), 'Zed', 'settings.json');
      // On macOS too: Zed keeps its settings in ~/.config there.
      const base = at.platform === 'linux' ? at.env['XDG_CONFIG_HOME'] : undefined;
      return join(base || join(at.home, '.config'), 'zed', 'settings.json');
    },
    encodeEntry: (server) => withoutEmpty(server),
    afterwards: 'Zed loads it automatically. The settings of the Agent Panel show the server.',
  },
  // https://docs.cline.bot/mcp/configuring-mcp-servers
  cline: {
    title: 'Cline (VS Code)',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at) =>
      scope === 'user' ? joinFor(at)(appFolder(at), 'Code', 'User', 'globalStorage', ...clineSettings) : undefined,
    encodeEntry: clineEntry,
    afterwards: 'Cline loads it automatically. MCP Servers › Configure shows the server.',
  },
  'cline-cli': {
    title: 'Cline CLI',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at) =>
      scope === 'user'
        ? at.env['CLINE_MCP_SETTINGS_PATH'] ||
          joinFor(at)(at.home, '.cline', 'data', 'settings', 'cline_mcp_settings.json')
        : undefined,
    encodeEntry: clineEntry,
    afterwards: 'Restart Cline.',
  },
  // https://opencode.ai/docs/mcp-servers
  opencode: {
    title: 'opencode',
    format: 'json',
    section: ['mcp'],
    jsonc: true,
    // Version 2 moved the servers from "mcp" to "mcp.servers".
    sectionIn: (content) => (isObject(content) && hasServers(content['mcp']) ? ['mcp', 'servers'] : ['mcp']),
    file: (scope, at, folder) => opencodeFile(scope, at, folder, 'opencode.json'),
    otherFile: (scope, at, folder) => opencodeFile(scope, at, folder, 'opencode.jsonc'),
    encodeEntry: (server) =>
      'url' in server
        ? withoutEmpty({ type: 'remote', ...server })
        : withoutEmpty({ type: 'local', command: [server.command, ...server.args], environment: server.env }),
    afterwards: 'Restart opencode.',
  },
  // https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html. JetBrains AI Assistant has no file: its servers
  // are entered in Settings › Tools › AI Assistant › Model Context Protocol.
  junie: {
    title: 'JetBrains Junie',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at, folder) => joinFor(at)(scope === 'project' ? folder : at.home, '.junie', 'mcp', 'mcp.json'),
    encodeEntry: (server) => withoutEmpty(server),
    afterwards: 'Settings › Tools › Junie › MCP Settings shows the server.',
  },
  // https://lmstudio.ai/docs/app/mcp
  'lm-studio': {
    title: 'LM Studio',
    format: 'json',
    section: ['mcpServers'],
    file: (scope, at) => (scope === 'user' ? joinFor(at)(at.home, '.lmstudio', 'mcp.json') : undefined),
    encodeEntry: (server) => withoutEmpty(server),
    afterwards: 'LM Studio loads it automatically. Enable the server in the Program tab of a chat.',
  },
};

/** Other names people type. */
export const clientAliases: Readonly<Record<string, string>> = {
  claude: 'claude-desktop',
  'vs-code': 'vscode',
  code: 'vscode',
  'gemini-cli': 'gemini',
  jetbrains: 'junie',
  lmstudio: 'lm-studio',
  'open-code': 'opencode',
};

/** The file of a client for a scope: the usual one, or its other name if only that exists. */
export function clientFile(row: ClientRow, scope: Scope, at: Platform, folder: string): string | undefined {
  const usual = row.file(scope, at, folder);
  const other = row.otherFile?.(scope, at, folder);
  return usual !== undefined && other !== undefined && !existsSync(usual) && existsSync(other) ? other : usual;
}
