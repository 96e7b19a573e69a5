// The command line or URL of a server as it is shown: values of variables as their names, and no secrets.

import { readFileSync } from 'node:fs';
import type { ServerEntry } from '../../../client/index.ts';
import { createRedactor } from '../../../security/redact.ts';

const reference = /(?:\$\{?(?:env:)?|\{env:)([A-Za-z_][A-Za-z0-9_]*)/g;
/** A shorter value is not a secret, and would be found inside other words. */
const minValueChars = 4;

/** The variables that files refer to, with their values, longest first. */
export function variablesIn(
  files: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): readonly (readonly [name: string, value: string])[] {
  const names = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(reference)].map(([, name = '']) => name),
  );
  return [...new Set(names)]
    .flatMap((name) => {
      const value = env[name] ?? '';
      return value.length < minValueChars ? [] : [[name, value] as const];
    })
    .sort(([, a], [, b]) => b.length - a.length);
}

/** `variables`: those of `variablesIn`. */
export function shownTarget(
  { command, args = [], url = '' }: ServerEntry,
  variables: readonly (readonly [name: string, value: string])[] = [],
): string {
  const named = (text: string): string =>
    variables.reduce((rest, [name, value]) => rest.replaceAll(value, `\${${name}}`), text);
  if (command === undefined) return named(shownUrl(url));
  const words = [command, ...args];
  // Hides what follows a name such as --token, and what looks like a secret.
  const redacted = createRedactor({ replacement: '[hidden]' }).redact(words) as readonly string[];
  return words
    .map((word, n) => {
      // The name of a variable reveals nothing, and says where the value comes from.
      const name = named(word);
      return /^\$\{[\w:-]+\}$/.test(name) ? name : named(shownUrl(redacted[n] ?? ''));
    })
    .join(' ');
}

/** A URL without user, password and values of its query; any other text as it is. */
function shownUrl(text: string): string {
  if (!text.includes('://') || !URL.canParse(text)) return text;
  const { protocol, host, pathname, searchParams } = new URL(text);
  const query = [...searchParams.keys()].map((key) => `${key}=[hidden]`).join('&');
  return `${protocol}//${host}${pathname}${query === '' ? '' : `?${query}`}`;
}
