// mooring serve [profile]: parses the options and starts the server.

import { serve } from '../../app/serving/serve.ts';
import { UsageError } from '../../app/usage-error.ts';
import { readArgs } from '../parse-args.ts';
import { type FixedProfile, serveFlags } from '../serve-options.ts';
import { settingsFlags, toFlagValues } from '../settings-flags.ts';

interface ParsedServeArgs {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

export async function run(args: readonly string[], fixed?: FixedProfile): Promise<number> {
  const split = args.indexOf('--');
  const folders = split === -1 ? [] : args.slice(split + 1);
  const { values, positionals } = read(split === -1 ? args : args.slice(0, split));
  if (values['help'] === true) {
    const { openOutput } = await import('../ui/output.ts');
    const { serveHelp } = await import('../serve-help.ts');
    const out = openOutput();
    out.write(serveHelp(out, fixed));
    return 0;
  }
  const [named, ...more] = positionals;
  if (fixed !== undefined && named !== undefined) {
    throw new UsageError(
      `Unexpected argument ${JSON.stringify(named)}: ${fixed.program} serves only the profile ${fixed.profile}. For other profiles use "mooring serve"`,
    );
  }
  if (more.length > 0) throw new UsageError(`Name one profile at a time, not ${positionals.join(', ')}`);
  await serve({
    profile: fixed?.profile ?? named,
    configFile: values['config'] as string | undefined,
    showSetup: values['show-setup'] === true,
    flags: withRoots(toFlagValues(values), folders),
    ...(values['gateway'] === undefined ? {} : { gateway: { files: values['gateway'] as readonly string[] } }),
  });
  return 0;
}

/** Start-up fast path: without options the option parser is not loaded. */
function read(args: readonly string[]): ParsedServeArgs {
  if (!args.some((arg) => arg.startsWith('-'))) return { values: {}, positionals: args };
  return readArgs('serve', args, { ...settingsFlags(), ...serveFlags });
}

function withRoots(
  flags: Record<string, readonly string[]>,
  folders: readonly string[],
): Record<string, readonly string[]> {
  return folders.length === 0 ? flags : { ...flags, root: [...(flags['root'] ?? []), ...folders] };
}
