// Checks the settings that are URLs, hosts, origins and addresses, and those of the server card, with the flag, variable or key by which
// each was given.

import { explainInvalid } from '../../transports/http/access-options.ts';
import { type CardField, explainInvalidCard } from '../../transports/http/server-card/card-fields.ts';
import { UsageError } from '../usage-error.ts';
import { type Option, options } from './options.ts';
import type { SettingValues } from './values.ts';

/** Throws a `UsageError` for the first invalid value. */
export function checkAddresses(values: SettingValues): void {
  for (const { key, format } of options) {
    const setting = format === undefined ? undefined : values.get(key);
    for (const value of [(setting?.value ?? []) as string | readonly string[]].flat()) {
      const problem = explain(format, key, value);
      if (problem !== undefined) throw new UsageError(`${setting?.origin.where ?? key}: ${problem}`);
    }
  }
  checkServerCard(values);
}

const cardPrefix = 'http.serverCard.';

/** A card needs a name and a description, and a repository both of its fields. */
function checkServerCard(values: SettingValues): void {
  const given = options.filter(({ key }) => key.startsWith(cardPrefix) && values.has(key)).map(({ key }) => key);
  const nameOf = (key: string): string => values.get(key)?.origin.where ?? key;
  const [first] = given;
  if (first === undefined) return;
  const has = (field: CardField): boolean => given.includes(cardPrefix + field);
  if (!has('name')) {
    throw new UsageError(
      `${nameOf(first)} has no effect without a name. Set --server-card NAME, such as com.example/notes`,
    );
  }
  if (!has('description')) {
    throw new UsageError(
      'A server card says what the server does, in at most 100 characters. Add --server-card-description TEXT',
    );
  }
  if (has('repository.url') === has('repository.source')) return;
  throw new UsageError('The repository in a server card needs "url" and "source", such as "github". Set both, or none');
}

function explain(format: Option['format'], key: string, value: string): string | undefined {
  switch (format) {
    case 'public-url':
      return explainInvalid('publicUrl', value);
    case 'host':
      return explainInvalid('allowedHosts', value);
    case 'origin':
      return explainInvalid('allowedOrigins', value);
    case 'proxy':
      return explainInvalid('trustedProxies', value);
    case 'url':
      // That it must use https is checked where it is used.
      if (URL.canParse(value)) return undefined;
      return `${JSON.stringify(value)} is not a URL; write it with its scheme: "https://id.example.org"`;
    case 'server-card':
      return explainInvalidCard(key.slice(cardPrefix.length) as CardField, value);
    case undefined:
      return undefined;
  }
}
