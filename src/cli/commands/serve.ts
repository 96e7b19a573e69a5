// mooring serve [profile]: the options, as words.

import { options } from '../../app/config/options.ts';
import { Mistake } from '../../app/mistake.ts';
import { defaultProfile, profiles } from '../../app/profiles/index.ts';
import { serve } from '../../app/serve.ts';
import { flagHelp, flagWords, settingsFlags } from '../settings-flags.ts';
import { readArgs } from '../usage.ts';

const help = (): string => `Usage: mooring serve [profile] [options]

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
  --show-setup            print what to paste into clients once it listens
  -h, --help              show this

Each option can stand in the configuration file as well, and those with a variable in the environment:
${options
  .filter(({ env }) => env !== undefined)
  .map(({ env }) => `  ${env}`)
  .join('\n')}
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('serve', args, {
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
    flags: flagWords(values),
  });
  return 0;
}
