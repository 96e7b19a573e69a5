// Keys of other clients in the entry of a server: what they mean here, and which have no effect.

import { maxTimerMs } from '../../common/wait.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { WrittenFilter } from './decode-view.ts';
import { filterKeys } from './entry-values.ts';

/** Read by `decodeEntry`, `isDisabled` or the functions below. */
const used: readonly string[] = [
  ...['command', 'args', 'env', 'environment', 'cwd', 'workingDirectory'],
  ...['url', 'httpUrl', 'serverUrl', 'type', 'transport', 'headers', 'http_headers', 'bearer_token_env_var'],
  ...['env_http_headers', 'env_vars', 'envFile'],
  ...['disabled', 'enabled', 'mooring', 'timeout', 'tool_timeout_sec'],
  ...filterKeys,
];

/** Known keys of other clients that decide what those clients do, not what the server is. */
const keysOfOtherClients = [
  ...['alwaysAllow', 'autoApprove', 'trust', 'description', 'name', 'icon', 'version', 'gallery', 'dev', 'source'],
  ...['startup_timeout_sec', 'startup_timeout_ms', 'required', 'oauth', 'auth', 'authProviderType', 'sandboxEnabled'],
  ...['sandbox', 'enabled_by_default', 'extensionName', 'registry', 'settings', 'networkTimeout', 'initTimeout'],
];

/** The tools that the client's own keys include and exclude; undefined if the entry has none of these keys. */
export function filterOfClient(written: unknown): WrittenFilter | undefined {
  if (!isObject(written)) return undefined;
  const include = texts(written['includeTools']) ?? texts(written['enabled_tools']);
  const exclude = ['excludeTools', 'disabledTools', 'disabled_tools'].flatMap((key) => texts(written[key]) ?? []);
  if (include === undefined && exclude.length === 0) return undefined;
  return { ...(include === undefined ? {} : { include }), exclude };
}

/** The time limit of a call. Most clients write milliseconds; Cline and Codex write seconds. */
export function timeoutOfClient(written: unknown, client: string | undefined): number | undefined {
  if (!isObject(written)) return undefined;
  const seconds = written['tool_timeout_sec'];
  if (isPositive(seconds)) return wholeMs(seconds * 1_000);
  const { timeout } = written;
  if (!isPositive(timeout)) return undefined;
  // In a file of an unknown client, a small number must be in seconds: a limit below one second makes no sense.
  const inSeconds = client === 'cline' || client === 'cline-cli' || timeout < 1_000;
  return wholeMs(inSeconds ? timeout * 1_000 : timeout);
}

/** As `timeoutMs` accepts it: some entries have a huge number for "no limit". */
function wholeMs(ms: number): number {
  return Math.min(Math.max(Math.round(ms), 1), maxTimerMs);
}

/** The variables of the environment that a command gets, which Codex names; newer versions say where they come from, too. */
export function inheritedOfClient(written: unknown): readonly string[] {
  const named: readonly unknown[] = isObject(written) && Array.isArray(written['env_vars']) ? written['env_vars'] : [];
  return texts(named.map((each) => (isObject(each) ? each['name'] : each))) ?? [];
}

/** Keys without effect: those known from other clients, and unknown ones. */
export function ignoredKeys(written: unknown): {
  readonly ignored: readonly string[];
  readonly unknown: readonly string[];
} {
  const keys = isObject(written) ? Object.keys(written).filter((key) => !used.includes(key)) : [];
  return {
    ignored: keys.filter((key) => keysOfOtherClients.includes(key)),
    unknown: keys.filter((key) => !keysOfOtherClients.includes(key)),
  };
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string' && each !== '') : undefined;
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}
