// How a command was called: the options it knows, and what is said when they were misspelled.

import type { ParseArgsConfig, parseArgs } from 'node:util';
import { Mistake } from '../app/mistake.ts';

type OptionsConfig = NonNullable<ParseArgsConfig['options']>;
type Parsed<T extends OptionsConfig> = ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>;

/** Reads arguments; a mistake names the command whose help explains them. */
export function readArgs<const T extends OptionsConfig>(
  command: string,
  args: readonly string[],
  options: T,
): Parsed<T> {
  try {
    // Asked for by name: an import would load all that `node:util` has, while a client waits for its first answer.
    return process.getBuiltinModule('node:util').parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new Mistake(`${sentence(error as Error)}\nSee "mooring ${command} --help"`);
  }
}

/** Node's own words, without the advice about `--` that only fits positional arguments. */
function sentence(error: Error): string {
  const first = error.message.split(/\. (?:To specify|Did you|If)/)[0] as string;
  return first.endsWith('.') ? first.slice(0, -1) : first;
}
