// mooring serve [profile]: the options, as words.

import { options } from '../../app/config/options.ts';
import { Mistake } from '../../app/mistake.ts';
import { defaultProfile, profiles } from '../../app/profiles/index.ts';
import { serve } from '../../app/serve.ts';
import { flagHelp, flagWords, settingsFlags } from '../settings-flags.ts';
import { readArgs } from '../usage.ts';

const help = (): string => `Usage: mooring serve [profile] [options] [-- DIR …]

Serves a ready-made MCP server on stdin and stdout, or over HTTP.

Profiles:
${Object.entries(profiles)
  .map(([name, { about }]) => `  ${`${name}${name === defaultProfile ? ' *' : ''}`.padEnd(16)}${about}`)
  .join('\n')}
  * the default

What it offers:
${flagHelp('what')}

Over HTTP:
${flagHelp('http')}

Who may connect over HTTP:
${flagHelp('auth')}

Log, on stderr:
${flagHelp('log')}

Else:
  --config FILE           settings from this file (default MOORING_CONFIG, else the user's own; see "mooring config")
  -- DIR …                the same as --root for each of them
  --show-setup            print what to paste into clients once it listens
  -h, --help              show this

Each option can stand in the configuration file as well, and those with a variable in the environment:
${options
  .filter(({ env }) => env !== undefined)
  .map(({ env }) => `  ${env}`)
  .join('\n')}
`;

export async function run(args: readonly string[]): Promise<number> {
  const split = args.indexOf('--');
  const folders = split === -1 ? [] : args.slice(split + 1);
  const { values, positionals } = readArgs('serve', split === -1 ? args : args.slice(0, split), {
    ...settingsFlags(),
    config: { type: 'string' },
    'show-setup': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values['help'] === true) {
    process.stdout.write(help());
    return 0;
  }
  const [profile, ...more] = positionals;
  if (more.length > 0) throw new Mistake(`One profile at a time, not ${positionals.join(', ')}`);
  await serve({
    profile,
    configFile: values['config'] as string | undefined,
    showSetup: values['show-setup'] === true,
    flags: withRoots(flagWords(values), folders),
  });
  return 0;
}

function withRoots(
  flags: Record<string, readonly string[]>,
  folders: readonly string[],
): Record<string, readonly string[]> {
  return folders.length === 0 ? flags : { ...flags, root: [...(flags['root'] ?? []), ...folders] };
}
