// The flags of the settings, for the commands that accept them: serve, config, doctor.

import { options } from '../app/config/options.ts';

type FlagConfig = { type: 'string'; multiple: true } | { type: 'boolean' };

/** The settings in the form that `parseArgs` expects. */
export function settingsFlags(): Record<string, FlagConfig> {
  return Object.fromEntries(
    options
      .filter(({ flag }) => flag !== undefined)
      .map(({ flag, kind }) => [flag, kind === 'switch' ? { type: 'boolean' } : { type: 'string', multiple: true }]),
  );
}

/** The values given for each flag, as texts. */
export function toFlagValues(values: Readonly<Record<string, unknown>>): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : [String(value)]]),
  );
}
