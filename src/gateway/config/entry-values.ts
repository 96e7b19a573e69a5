// Checks the values in the entry of a server: what is not of the right type, and cannot be turned into it, is an error, because a
// variable, header or filter that is left out silently changes what the server may do.

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { Issue } from '../../schema/index.ts';

/** Keys with the variables of a command, in any client. */
export const variableKeys = ['env', 'environment'] as const;
/** Keys with the headers of requests, in any client. */
export const headerKeys = ['headers', 'http_headers'] as const;

/** Keys with the names of tools, in any client. */
export const filterKeys = ['includeTools', 'excludeTools', 'disabledTools', 'enabled_tools', 'disabled_tools'] as const;

/** The name in `{ "secret": "name" }`, which stands for a value that is not in the file; undefined for any other value. */
export function secretOf(value: unknown): string | undefined {
  if (!isObject(value) || Object.keys(value).length !== 1) return undefined;
  return typeof value['secret'] === 'string' && value['secret'] !== '' ? value['secret'] : undefined;
}

/** What is wrong with the values of an entry. Paths begin with `path`. */
export function valueIssues(written: JsonObject, path: readonly string[]): Issue[] {
  const { command } = written;
  // Older versions of Zed: { "command": { "path", "args", "env" } }.
  const nested = isObject(command) ? command : {};
  return [
    ...['url', 'httpUrl', 'serverUrl', 'cwd', 'workingDirectory', 'type', 'transport', 'envFile'].flatMap((key) =>
      written[key] === undefined || written[key] === null || typeof written[key] === 'string'
        ? []
        : [{ path: [...path, key], message: `must be a string, not ${kindOf(written[key])}` }],
    ),
    ...['disabled', 'enabled'].flatMap((key) =>
      written[key] === undefined || written[key] === null || typeof written[key] === 'boolean'
        ? []
        : [{ path: [...path, key], message: `must be true or false, not ${kindOf(written[key])}` }],
    ),
    ...filterKeys.flatMap((key) => filterIssues(written[key], [...path, key])),
    ...(Array.isArray(command) ? listIssues(command, [...path, 'command']) : []),
    ...listIssues(written['args'], [...path, 'args']),
    ...listIssues(nested['args'], [...path, 'command', 'args']),
    ...variableKeys.flatMap((key) => mapIssues(written[key], [...path, key], isVariable)),
    ...mapIssues(nested['env'], [...path, 'command', 'env'], isVariable),
    ...headerKeys.flatMap((key) => mapIssues(written[key], [...path, key], isPlain)),
  ];
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** In VS Code, null means that the variable is not set; here it is not set anyway. */
function isVariable(value: unknown): boolean {
  return value === null || isPlain(value);
}

function listIssues(value: unknown, path: readonly string[]): Issue[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [{ path, message: `must be a list of strings, not ${kindOf(value)}` }];
  return value.flatMap((each, i) => {
    if (isPlain(each)) return [];
    const why = secretOf(each) === undefined ? '' : ': command lines are visible to all users; put the secret into env';
    return [{ path: [...path, i], message: `must be a string, not ${kindOf(each)}${why}` }];
  });
}

/** A filter that is left out would show all tools. */
function filterIssues(value: unknown, path: readonly string[]): Issue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return [];
  return [{ path, message: `must be a list of names of tools${Array.isArray(value) ? '' : `, not ${kindOf(value)}`}` }];
}

function mapIssues(value: unknown, path: readonly string[], isValid: (value: unknown) => boolean): Issue[] {
  if (value === undefined || value === null) return [];
  if (!isObject(value))
    return [{ path, message: `must be an object with a string for each name, not ${kindOf(value)}` }];
  return Object.entries(value).flatMap(([name, each]) => {
    if (isValid(each)) return [];
    const message =
      secretOf(each) === undefined
        ? `must be a string or { "secret": "name" }, not ${kindOf(each)}`
        : 'is a secret, which is looked up only for configuration files; put its value here';
    return [{ path: [...path, name], message }];
  });
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}
