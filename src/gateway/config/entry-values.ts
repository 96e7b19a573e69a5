// Checks the values in the entry of a server: what is not of the right type, and cannot be turned into it, is an error, because a
// variable, header or filter that is left out silently changes what the server may do.

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { Issue } from '../../schema/index.ts';
import { isHeaderName } from './forward-headers.ts';

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
    ...commandIssues(command, [...path, 'command']),
    ...['url', 'httpUrl', 'serverUrl', 'cwd', 'workingDirectory', 'type', 'transport', 'envFile'].flatMap((key) =>
      written[key] === undefined || written[key] === null || typeof written[key] === 'string'
        ? []
        : [{ path: [...path, key], message: `must be a string, not ${kindOf(written[key])}` }],
    ),
    ...['cwd', 'workingDirectory'].flatMap((key) => nulIssues(String(written[key] ?? ''), [...path, key])),
    ...['disabled', 'enabled'].flatMap((key) =>
      written[key] === undefined || written[key] === null || typeof written[key] === 'boolean'
        ? []
        : [{ path: [...path, key], message: `must be true or false, not ${kindOf(written[key])}` }],
    ),
    ...['timeout', 'tool_timeout_sec'].flatMap((key) =>
      written[key] === undefined || written[key] === null || typeof written[key] === 'number'
        ? []
        : [{ path: [...path, key], message: `must be a number, not ${kindOf(written[key])}` }],
    ),
    ...filterKeys.flatMap((key) => filterIssues(written[key], [...path, key])),
    ...listIssues(written['args'], [...path, 'args']),
    ...listIssues(nested['args'], [...path, 'command', 'args']),
    ...variableKeys.flatMap((key) => mapIssues(written[key], [...path, key], variables)),
    ...mapIssues(nested['env'], [...path, 'command', 'env'], variables),
    ...headerKeys.flatMap((key) => mapIssues(written[key], [...path, key], headers)),
  ];
}

/** What the names and values of a map may be. */
interface MapRules {
  /** Whether a value of this type can be turned into text. */
  readonly isValid: (value: unknown) => boolean;
  /** What is wrong with a name, or with a value as text; the value itself may be a secret. */
  readonly wrongName: (name: string) => string | undefined;
  readonly wrongText: (text: string) => string | undefined;
}

/** In VS Code, null means that the variable is not set; here it is not set anyway. */
const variables: MapRules = {
  isValid: (value) => value === null || isPlain(value),
  wrongName: (name) =>
    name === '' || /[=\0]/.test(name) ? `${JSON.stringify(name)} is not the name of a variable` : undefined,
  wrongText: withoutNul,
};

const headers: MapRules = {
  isValid: isPlain,
  wrongName: (name) => (isHeaderName(name) ? undefined : `${JSON.stringify(name)} is not the name of a header`),
  // Those of an HTTP/1.1 message; others cannot be sent.
  wrongText: (text) =>
    /^[\t\x20-\x7e\x80-\xff]*$/.test(text.trim())
      ? undefined
      : 'has a line break, a control character or a character beyond U+00FF, which the value of a header cannot have',
};

/** No program can get such a text. */
function withoutNul(text: string): string | undefined {
  return text.includes('\0') ? 'has a NUL character, which cannot be passed to a program' : undefined;
}

function nulIssues(text: string, path: Issue['path']): Issue[] {
  const message = withoutNul(text);
  return message === undefined ? [] : [{ path, message }];
}

function commandIssues(command: unknown, path: readonly string[]): Issue[] {
  if (command === undefined || command === null) return [];
  if (typeof command === 'string') return nulIssues(command, path);
  if (Array.isArray(command)) return listIssues(command, path);
  return isObject(command) ? [] : [{ path, message: `must be a string, not ${kindOf(command)}` }];
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function listIssues(value: unknown, path: readonly string[]): Issue[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [{ path, message: `must be a list of strings, not ${kindOf(value)}` }];
  return value.flatMap((each, i) => {
    if (isPlain(each)) return nulIssues(String(each), [...path, i]);
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

function mapIssues(value: unknown, path: readonly string[], rules: MapRules): Issue[] {
  if (value === undefined || value === null) return [];
  if (!isObject(value))
    return [{ path, message: `must be an object with a string for each name, not ${kindOf(value)}` }];
  return Object.entries(value).flatMap(([name, each]) => {
    const wrong = rules.wrongName(name) ?? (isPlain(each) ? rules.wrongText(String(each)) : undefined);
    if (wrong !== undefined) return [{ path: [...path, name], message: wrong }];
    if (rules.isValid(each)) return [];
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
