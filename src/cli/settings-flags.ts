// The flags behind which the settings stand, for every command that takes them: serve, config, doctor.

import { options } from '../app/config/options.ts';

type FlagConfig = { type: 'string'; multiple: true } | { type: 'boolean' };

/** The settings as `parseArgs` wants them. */
export function settingsFlags(): Record<string, FlagConfig> {
  return Object.fromEntries(
    options
      .filter(({ flag }) => flag !== undefined)
      .map(({ flag, kind }) => [flag, kind === 'switch' ? { type: 'boolean' } : { type: 'string', multiple: true }]),
  );
}

/** What was said for each flag, as words. */
export function flagWords(values: Readonly<Record<string, unknown>>): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : [String(value)]]),
  );
}
