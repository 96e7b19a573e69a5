// Parses the options of a command and reports unknown or malformed ones.

import type { ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from '../app/usage-error.ts';

type OptionsConfig = NonNullable<ParseArgsConfig['options']>;
type ParsedArgs<T extends OptionsConfig> = ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>;

/** Parses arguments. A usage error names the command whose help explains them. */
export function readArgs<const T extends OptionsConfig>(
  command: string,
  args: readonly string[],
  options: T,
): ParsedArgs<T> {
  try {
    // Loaded by name: an import of `node:util` would load all of it and slow down the start of a server.
    return process.getBuiltinModule('node:util').parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${sentence(error as Error)}\nSee "mooring ${command} --help"`);
  }
}

/** Node's own message, without the advice about `--` that only fits positional arguments. */
function sentence(error: Error): string {
  const first = error.message.split(/\. (?:To specify|Did you|If)/)[0] as string;
  return first.endsWith('.') ? first.slice(0, -1) : first;
}
