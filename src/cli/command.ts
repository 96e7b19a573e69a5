// What every command does first: reads its options, and shows its help if asked to.

import { UsageError } from '../app/usage-error.ts';
import { type OptionsConfig, type ParsedArgs, readArgs } from './parse-args.ts';
import { type Output, openOutput } from './ui/output.ts';

const helpOption = { help: { type: 'boolean', short: 'h' } } as const;

interface CommandInfo<T extends OptionsConfig> {
  /** As typed after `mooring`. */
  readonly name: string;
  readonly help: string;
  /** Without `--help`, which every command has. */
  readonly options: T;
  /** How many words it accepts besides its options. Absent: it checks them itself. */
  readonly maxWords?: number;
}

type CommandInput<T extends OptionsConfig> = ParsedArgs<T & typeof helpOption> & { readonly out: Output };

/** A command: from its arguments to its exit code. */
export function command<const T extends OptionsConfig>(
  { name, help, options, maxWords = Number.POSITIVE_INFINITY }: CommandInfo<T>,
  run: (input: CommandInput<T>) => Promise<number>,
): (args: readonly string[]) => Promise<number> {
  return async (args) => {
    const { values, positionals } = readArgs(name, args, { ...options, ...helpOption });
    const out = openOutput();
    if ((values as { help?: boolean }).help === true) {
      out.write(help);
      return 0;
    }
    if (positionals.length > maxWords) {
      throw new UsageError(
        `Unexpected argument ${JSON.stringify(positionals[maxWords])}. See "mooring ${name} --help"`,
      );
    }
    return run({ values, positionals, out } as CommandInput<T>);
  };
}
