// Reads mooring.json: comments, ${VAR}, the schema, paths, and the permissions of the file. All errors are reported
// together, each with its line and how to fix it.

import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { decodeText } from '../../common/decode-text.ts';
import { reasonText } from '../../common/errno-text.ts';
import { compileSchema, formatIssues, type Issue } from '../../schema/index.ts';
import { dataOf, JsoncError, type JsonNode, parseJsonc, positionOf } from '../text/jsonc.ts';
import { UsageError } from '../usage-error.ts';
import { type Expanded, expandVariables, formatPointer } from './expand.ts';
import { offsetOf, withSuggestion } from './issues.ts';
import { type Option, options } from './options.ts';
import { ownershipProblem, readableByOthers } from './ownership.ts';
import { configSchema } from './schema.ts';
import { absolutePath, pathOrUrl, type SettingValue, type SettingValues } from './values.ts';

export interface FileContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** Larger than any configuration; stops at a device or log file given by accident. */
const maxFileBytes = 1024 * 1024;

/** The values in a file, by key. Throws a `UsageError` that lists all errors. */
export async function readConfigFile(file: string, context: FileContext): Promise<SettingValues> {
  const text = readText(file);
  const tree = parse(file, text);
  const raw = dataOf(tree);
  const expanded = expandVariables(raw, context.env);
  // Servers are expanded when they are called: a missing token of one server must not stop this one.
  const unset = expanded.unset.filter(({ path }) => path[0] !== 'mcpServers');
  const value = withServersAsWritten(expanded.value, raw);
  const at = (path: readonly (string | number)[]): string => `${file}:${positionOf(text, offsetOf(tree, path)).line}`;

  const wrong = [
    ...unset.map(({ path, name }) => ({
      path,
      message: `needs the environment variable ${name}, which is not set; set it, or write \${${name}:-default}`,
    })),
    ...duplicates(tree, []),
    // An unset variable leaves an empty text; report one error, not two.
    ...(await check(value)).filter(({ path }) => !unset.some((each) => same(each.path, path))),
  ];
  if (wrong.length > 0) {
    wrong.sort((a, b) => offsetOf(tree, a.path) - offsetOf(tree, b.path));
    throw new UsageError(
      wrong.map((issue) => `${at(issue.path)}: ${formatIssues([withSuggestion(issue)])}`).join('\n'),
    );
  }
  const values = collect(value, at, dirname(file), context.home);
  assertPrivateFile(file, holdsSecrets(raw, expanded));
  return values;
}

function withServersAsWritten(expanded: unknown, raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || !('mcpServers' in raw)) return expanded;
  return { ...(expanded as object), mcpServers: raw.mcpServers };
}

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((step, i) => step === b[i]);
}

function readText(file: string): string {
  const { size } = stat(file);
  if (size > maxFileBytes)
    throw new UsageError(`${file}: the file is larger than 1 MiB, the limit for a configuration`);
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    throw new UsageError(`${file}: ${reasonText(error, 'file')}`);
  }
}

function stat(file: string) {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`${file}: the file does not exist`);
  if (!found.isFile()) throw new UsageError(`${file}: this is not a regular file`);
  return found;
}

function parse(file: string, text: string): JsonNode {
  try {
    return parseJsonc(text);
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error;
    const { line, column } = positionOf(text, error.offset);
    throw new UsageError(`${file}:${line}:${column}: ${error.message}`);
  }
}

function duplicates(node: JsonNode, path: readonly (string | number)[]): Issue[] {
  if (node.kind === 'array') return node.items.flatMap((item, index) => duplicates(item, [...path, index]));
  if (node.kind !== 'object') return [];
  const seen = new Set<string>();
  return node.members.flatMap(({ key, value }) => {
    const twice = seen.has(key) ? [{ path: [...path, key], message: 'is given twice; remove one' }] : [];
    seen.add(key);
    return [...twice, ...duplicates(value, [...path, key])];
  });
}

async function check(value: unknown): Promise<readonly Issue[]> {
  const { validator } = compileSchema(configSchema(), { direction: 'input', where: 'mooring.json' });
  const result = await validator.validate(value);
  return result.ok ? [] : result.issues;
}

function collect(value: unknown, at: (path: readonly string[]) => string, base: string, home: string): SettingValues {
  const values: SettingValues = new Map();
  for (const option of options) {
    const path = option.key.split('.');
    const found = path.reduce<unknown>((each, step) => (each as Record<string, unknown> | undefined)?.[step], value);
    if (found === undefined) continue;
    const entry: SettingValue = {
      value: resolved(option, found, base, home),
      origin: { from: 'file', where: at(path) },
    };
    values.set(option.key, entry);
  }
  return values;
}

function resolved({ key, kind }: Option, value: unknown, base: string, home: string): unknown {
  if (kind === 'path') return absolutePath(value as string, base, home);
  if (kind === 'path-or-url') return pathOrUrl(value as string, (path) => absolutePath(path, base, home));
  if (kind === 'paths') return (value as string[]).map((path) => absolutePath(path, base, home));
  if (key !== 'plugins') return value;
  return (value as { source: string }[]).map((plugin) => ({
    ...plugin,
    source: /^(\.{1,2}[/\\]|~|\/|[A-Za-z]:[/\\])/.test(plugin.source)
      ? absolutePath(plugin.source, base, home)
      : plugin.source,
  }));
}

/** Whether the file itself contains secrets; values from the environment do not count. */
function holdsSecrets(raw: unknown, { expanded }: Expanded): boolean {
  const literal = (path: readonly (string | number)[]): boolean => !expanded.has(formatPointer(path));
  const get = (path: readonly string[]): unknown =>
    path.reduce<unknown>((each, step) => (each as Record<string, unknown> | undefined)?.[step], raw);
  const own = options
    .filter(({ secret }) => secret)
    .some(({ key }) => {
      const path = key.split('.');
      const found = get(path);
      if (Array.isArray(found)) return found.some((_, index) => literal([...path, index]));
      return found !== undefined && literal(path);
    });
  const servers = Object.entries((get(['mcpServers']) ?? {}) as Record<string, Record<string, object>>);
  const ofApi = (field: string): string[] => Object.keys((get(['packs', 'openapi', field]) ?? {}) as object);
  return (
    own ||
    ofApi('credentials').some((name) => literal(['packs', 'openapi', 'credentials', name])) ||
    ofApi('headers').some((name) => looksSecret(name) && literal(['packs', 'openapi', 'headers', name])) ||
    servers.some(([name, entry]) =>
      ['env', 'headers'].some((field) =>
        Object.entries(entry[field] ?? {}).some(
          // An object names a secret that is not in the file.
          ([key, value]) => looksSecret(key) && typeof value !== 'object' && literal(['mcpServers', name, field, key]),
        ),
      ),
    )
  );
}

function looksSecret(name: string): boolean {
  return /key|token|secret|passw|credential|authorization|cookie/i.test(name);
}

/** Users who can write the file decide what runs; users who can read it see its secrets. */
function assertPrivateFile(file: string, secrets: boolean): void {
  const problem = ownershipProblem(file);
  if (problem !== undefined) throw new UsageError(`${file}: ${problem}`);
  if (secrets && readableByOthers(file)) {
    throw new UsageError(
      `${file}: the file contains secrets and other users can read it. Run: chmod 600 ${file}\n` +
        `Or keep the secrets in environment variables and write \${NAME} instead`,
    );
  }
}
