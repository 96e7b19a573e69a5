// Parses the options of a command and reports unknown or malformed ones.

import type { ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from '../app/usage-error.ts';

export type OptionsConfig = NonNullable<ParseArgsConfig['options']>;
export type ParsedArgs<T extends OptionsConfig> = ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>;

/** An option that the command does not have. What was probably meant is found when the error is reported. */
export class UnknownOption extends UsageError {
  readonly option: string;
  readonly known: readonly string[];
  readonly help: string;

  constructor(option: string, known: readonly string[], help: string) {
    super(`Unknown option --${option}\n${help}`);
    this.option = option;
    this.known = known;
    this.help = help;
  }
}

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
    const unknown = unknownOption(error as Error);
    const help = `See "mooring ${command} --help"`;
    if (unknown !== undefined) throw new UnknownOption(unknown, Object.keys(options), help);
    throw new UsageError(`${sentence(error as Error)}\n${help}`);
  }
}

/** The name of an unknown option. */
function unknownOption(error: NodeJS.ErrnoException): string | undefined {
  return error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? /'--([^'=\s]+)/.exec(error.message)?.[1] : undefined;
}

/** Node's own message, without the advice about `--` that only fits positional arguments. */
function sentence(error: Error): string {
  const withoutValue = /^Option '(?:-\w, )?(--[^'\s]+).*' argument (?:missing|is ambiguous)/.exec(error.message)?.[1];
  if (withoutValue !== undefined) return `${withoutValue} needs a value`;
  const first = error.message.split(/\. (?:To specify|Did you|If)/)[0] as string;
  return first.endsWith('.') ? first.slice(0, -1) : first;
}
