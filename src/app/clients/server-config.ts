// Reads the servers in the configuration file of any client. How a client writes its own file is in clients.ts.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { isUtf16 } from '../../common/decode-text.ts';
import { reasonText } from '../../common/errno-text.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { offsetOf } from '../config/issues.ts';
import { dataOf, JsoncError, type JsonNode, nodeAt, parseJsonc, positionOf } from '../text/jsonc.ts';
import { hasServers } from './clients.ts';

export { decodeEntry, isDisabled } from '../../gateway/config/server-entry.ts';

/** A server as written in a file. */
export interface WrittenServer {
  readonly name: string;
  readonly section: readonly string[];
  /** The entry as written; of any type if the file is invalid. */
  readonly written: unknown;
}

/** A file that was read. */
interface ReadConfig {
  readonly ok: true;
  readonly text: string;
  readonly data: unknown;
  /** Undefined for TOML and for an empty file. */
  readonly node: JsonNode | undefined;
  /** Where a value is, or what is nearest to it. */
  offsetOf(path: readonly (string | number)[]): number;
}

export type ConfigContent =
  | ReadConfig
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
    const found = statSync(file);
    // The file is read more than once: when the gateway starts, and when it changes.
    if (!found.isFile() && !found.isDirectory()) {
      return {
        ok: false,
        missing: false,
        message: 'this is not a regular file, which can be read again when it changes',
      };
    }
    const bytes = readFileSync(file);
    if (isUtf16(bytes)) return { ok: false, missing: false, message: 'it is in UTF-16; save it as UTF-8' };
    text = bytes.toString('utf8');
  } catch (error) {
    return { ok: false, missing: false, message: reasonText(error, 'file') };
  }
  const wrong = (error: Error & { readonly offset: number }): ConfigContent => ({
    ok: false,
    missing: false,
    message: error.message,
    ...positionOf(text, error.offset),
  });
  if (extname(file).toLowerCase() === '.toml') {
    // Loaded only for TOML: the parser is large.
    const { tomlData, TomlError, tomlOffset } = await import('../text/toml.ts');
    try {
      return { ok: true, text, data: tomlData(text), node: undefined, offsetOf: (path) => tomlOffset(text, path) };
    } catch (error) {
      if (error instanceof TomlError) return wrong(error);
      throw error;
    }
  }
  if (text.trim() === '') return { ok: true, text, data: {}, node: undefined, offsetOf: () => 0 };
  try {
    const node = parseJsonc(text);
    return { ok: true, text, data: dataOf(node), node, offsetOf: (path) => offsetOf(node, path) };
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
    // Gemini CLI has lists of names under "mcp", and VS Code its inputs.
    if (name === 'mcp' && !Object.values(found).some(isObject)) continue;
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

/** Servers that are defined more than once in a section of JSON: the last definition counts. */
export function duplicateServers({
  data,
  node,
}: Pick<ReadConfig, 'data' | 'node'>): readonly Pick<WrittenServer, 'name' | 'section'>[] {
  return sectionsOf(data).flatMap((section) => {
    const found = node === undefined ? undefined : nodeAt(node, section);
    const names = found?.kind === 'object' ? found.members.map(({ key }) => key) : [];
    const twice = new Set(names.filter((name, i) => names.indexOf(name) !== i));
    return [...twice].map((name) => ({ name, section }));
  });
}

/** Whether only Zed can start this server: its command is in an extension. */
export function isOfExtension({ section, written }: WrittenServer): boolean {
  if (section[0] !== 'context_servers' || !isObject(written)) return false;
  const { command, url, source } = written;
  return command === undefined && url === undefined && (source === 'extension' || 'settings' in written);
}

/** Keys that only mooring.json has. */
const ownKeys = ['profile', 'http', 'plugins', 'gateway', 'policy', 'audit'];

/** Whether this is mooring.json, under any name: it is read with all its checks. */
export function isMooringConfig({ data, node }: Pick<ReadConfig, 'data' | 'node'>): boolean {
  // TOML is never ours: Codex has a key "profile" too.
  if (!isObject(data) || node === undefined) return false;
  return ownKeys.some((key) => key in data) || String(data['$schema']).includes('mooring');
}
