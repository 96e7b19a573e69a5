// Checks the settings that are URLs, hosts and origins, with the flag, variable or key by which each was given.

import { explainInvalid } from '../../transports/http/access-options.ts';
import { UsageError } from '../usage-error.ts';
import { type Option, options } from './options.ts';
import type { SettingValues } from './values.ts';

/** Throws a `UsageError` for the first invalid value. */
export function checkAddresses(values: SettingValues): void {
  for (const { key, format } of options) {
    const setting = format === undefined ? undefined : values.get(key);
    for (const value of [(setting?.value ?? []) as string | readonly string[]].flat()) {
      const problem = explain(format, value);
      if (problem !== undefined) throw new UsageError(`${setting?.origin.where ?? key}: ${problem}`);
    }
  }
}

function explain(format: Option['format'], value: string): string | undefined {
  switch (format) {
    case 'public-url':
      return explainInvalid('publicUrl', value);
    case 'host':
      return explainInvalid('allowedHosts', value);
    case 'origin':
      return explainInvalid('allowedOrigins', value);
    case 'url':
      // That it must use https is checked where it is used.
      if (URL.canParse(value)) return undefined;
      return `${JSON.stringify(value)} is not a URL; write it with its scheme: "https://id.example.org"`;
    case undefined:
      return undefined;
  }
}
