// One server as clients write it in their configuration: the names of keys that any of them uses.

import type { ServerEntry } from '../../client/index.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';

/**
 * An entry in the form that `connect()` accepts; accepts the forms of all clients. Invalid parts are left out: `valueIssues`
 * reports them.
 */
export function decodeEntry(written: unknown): ServerEntry {
  if (!isObject(written)) return {};
  // Older versions of Zed: { "command": { "path", "args", "env" } }.
  const nested = isObject(written['command']) ? written['command'] : {};
  const words = strings(written['command']);
  const command = text(written['command']) ?? text(nested['path']) ?? words?.[0];
  const args = strings(written['args']) ?? strings(nested['args']) ?? words?.slice(1);
  const env = texts(written['env']) ?? texts(written['environment']) ?? texts(nested['env']);
  const cwd = text(written['cwd']) ?? text(written['workingDirectory']);
  // Gemini CLI uses `httpUrl` where both are given.
  const url = text(written['httpUrl']) ?? text(written['url']) ?? text(written['serverUrl']);
  const headers = { ...variableHeaders(written), ...(texts(written['headers']) ?? texts(written['http_headers'])) };
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

/** What a client would connect to, with the keys of that client. */
export function decodeClientEntry(written: unknown, client: string | undefined): ServerEntry {
  const entry = decodeEntry(written);
  if (!isObject(written) || entry.url === undefined) return entry;
  // In Gemini CLI, `url` means the older HTTP+SSE transport, and `httpUrl` the current one.
  if (client === 'gemini' && written['httpUrl'] === undefined && entry.type === undefined) {
    return { ...entry, type: 'sse' };
  }
  if (entry.type !== 'ws' && entry.type !== 'websocket') return entry;
  return { ...entry, url: entry.url.replace(/^http/i, 'ws') };
}

/** The values of `type` and `transport`, in any client: opencode has local and remote. */
export const knownTypes: readonly string[] = [
  ...['stdio', 'local', 'http', 'remote', 'streamable-http', 'streamableHttp', 'streamable_http'],
  ...['sse', 'ws', 'websocket'],
];

/** Whether the entry is switched off: `disabled`, or `enabled: false`. */
export function isDisabled(written: unknown): boolean {
  return isObject(written) && (written['disabled'] === true || written['enabled'] === false);
}

/** Headers whose values are in variables of the environment, which Codex names: the token, and others by header. */
export function variableHeaders(written: JsonObject): Record<string, string> {
  const token = text(written['bearer_token_env_var']);
  const others = Object.entries(texts(written['env_http_headers']) ?? {});
  return {
    ...(token === undefined ? {} : { Authorization: `Bearer \${${token}}` }),
    ...Object.fromEntries(others.map(([header, name]) => [header, `\${${name}}`])),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each !== 'object').map(String) : undefined;
}

function texts(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (typeof each === 'object' ? [] : [[name, String(each)]])),
  );
}
