// Reads the servers in the configuration file of any client. How a client writes its own file is in clients.ts.

import { existsSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { ServerEntry } from '../../client/index.ts';
import { dataOf, JsoncError, type JsonNode, parseJsonc, positionOf } from '../text/jsonc.ts';
import { hasServers } from './clients.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A server as written in a file. */
export interface WrittenServer {
  readonly name: string;
  readonly section: readonly string[];
  /** The entry as written; anything, if the file is wrong. */
  readonly written: unknown;
}

export type ConfigContent =
  | { readonly ok: true; readonly text: string; readonly data: unknown; readonly node: JsonNode | undefined }
  | {
      readonly ok: false;
      readonly missing: boolean;
      readonly message: string;
      readonly line?: number;
      column?: number;
    };

/** Reads and parses a file: TOML by its name, otherwise JSON with comments. */
export async function readConfig(file: string): Promise<ConfigContent> {
  if (!existsSync(file)) return { ok: false, missing: true, message: 'the file does not exist' };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return { ok: false, missing: false, message: (error as Error).message };
  }
  const wrong = (error: Error & { readonly offset: number }): ConfigContent => ({
    ok: false,
    missing: false,
    message: error.message,
    ...positionOf(text, error.offset),
  });
  if (extname(file).toLowerCase() === '.toml') {
    // Loaded only for TOML: the parser is large.
    const { tomlData, TomlError } = await import('../text/toml.ts');
    try {
      return { ok: true, text, data: tomlData(text), node: undefined };
    } catch (error) {
      if (error instanceof TomlError) return wrong(error);
      throw error;
    }
  }
  if (text.trim() === '') return { ok: true, text, data: {}, node: undefined };
  try {
    const node = parseJsonc(text);
    return { ok: true, text, data: dataOf(node), node };
  } catch (error) {
    if (error instanceof JsoncError) return wrong(error);
    throw error;
  }
}

/** The names of sections that hold servers, in any client. */
export const sectionNames = ['mcpServers', 'servers', 'mcp_servers', 'context_servers', 'mcp'] as const;

/** The sections in this content: also those of single projects, which Claude Code keeps in the user's file. */
export function sectionsOf(data: unknown): readonly (readonly string[])[] {
  if (!isObject(data)) return [];
  const sections: string[][] = [];
  for (const name of sectionNames) {
    const found = data[name];
    if (!isObject(found)) continue;
    sections.push(name === 'mcp' && hasServers(found) ? [name, 'servers'] : [name]);
  }
  const { projects } = data;
  for (const [folder, project] of Object.entries(isObject(projects) ? projects : {})) {
    const servers = isObject(project) ? project['mcpServers'] : undefined;
    if (isObject(servers) && Object.keys(servers).length > 0) sections.push(['projects', folder, 'mcpServers']);
  }
  return sections;
}

/** The servers in this content. */
export function serversIn(data: unknown): WrittenServer[] {
  return sectionsOf(data).flatMap((section) => {
    const servers = section.reduce<unknown>((each, key) => (each as JsonObject)[key], data) as JsonObject;
    return Object.entries(servers).map(([name, written]) => ({ name, section, written }));
  });
}

/** An entry in the form that `connect()` accepts; the forms of all clients are understood. Invalid parts are left out. */
export function decodeEntry(written: unknown): ServerEntry {
  if (!isObject(written)) return {};
  // Older versions of Zed: { "command": { "path", "args", "env" } }.
  const nested = isObject(written['command']) ? written['command'] : {};
  const words = strings(written['command']);
  const command = text(written['command']) ?? text(nested['path']) ?? words?.[0];
  const args = strings(written['args']) ?? strings(nested['args']) ?? words?.slice(1);
  const env = texts(written['env']) ?? texts(written['environment']) ?? texts(nested['env']);
  const cwd = text(written['cwd']) ?? text(written['workingDirectory']);
  const url = text(written['url']) ?? text(written['httpUrl']) ?? text(written['serverUrl']);
  const headers = { ...bearerOf(written), ...(texts(written['headers']) ?? texts(written['http_headers'])) };
  const type = text(written['type']) ?? text(written['transport']);
  return {
    ...(type === undefined ? {} : { type }),
    ...(command === undefined ? {} : { command }),
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(url === undefined ? {} : { url }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

/** Whether the entry is switched off: `disabled`, or `enabled: false`. */
export function isDisabled(written: unknown): boolean {
  return isObject(written) && (written['disabled'] === true || written['enabled'] === false);
}

/** Codex names the environment variable that holds the token. */
function bearerOf(written: JsonObject): Record<string, string> {
  const name = text(written['bearer_token_env_var']);
  return name === undefined ? {} : { Authorization: `Bearer \${${name}}` };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}

function texts(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (typeof each === 'object' ? [] : [[name, String(each)]])),
  );
}
