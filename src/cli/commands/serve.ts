// mooring serve [profile]: the options, as words.

import { type Option, options } from '../../app/config/options.ts';
import { Mistake } from '../../app/mistake.ts';
import { defaultProfile, profiles } from '../../app/profiles/index.ts';
import { serve } from '../../app/serve.ts';
import { readArgs } from '../usage.ts';

const help = (): string => `Usage: mooring serve [profile] [options]

Serves a ready-made MCP server on stdin and stdout, or over HTTP.

Profiles:
${Object.entries(profiles)
  .map(([name, { about }]) => `  ${`${name}${name === defaultProfile ? ' *' : ''}`.padEnd(16)}${about}`)
  .join('\n')}
  * the default

What it offers:
${rows('what')}

Over HTTP:
${rows('http')}

Who may connect over HTTP:
${rows('auth')}

Log, on stderr:
${rows('log')}

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
    ...flags(),
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
    flags: wordsOf(values),
  });
  return 0;
}

/** The options as `parseArgs` wants them. */
function flags(): Record<string, { type: 'string'; multiple: true } | { type: 'boolean' }> {
  return Object.fromEntries(
    options
      .filter(({ flag }) => flag !== undefined)
      .map(({ flag, kind }) => [flag, kind === 'switch' ? { type: 'boolean' } : { type: 'string', multiple: true }]),
  );
}

function wordsOf(values: Readonly<Record<string, unknown>>): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : [String(value)]]),
  );
}

function rows(section: Option['section']): string {
  return options
    .filter((option) => option.section === section && option.flag !== undefined)
    .map(({ flag, metavar, about }) => {
      const left = `  --${flag}${metavar === undefined ? '' : ` ${metavar}`}`;
      return left.length < 25 ? `${left.padEnd(26)}${about}` : `${left}\n${' '.repeat(26)}${about}`;
    })
    .join('\n');
}
