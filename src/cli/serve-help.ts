// The help of `mooring serve`, built from the rows of options and profiles. Loaded only for --help.

import { type Option, options } from '../app/config/options.ts';
import { defaultProfile, profiles } from '../app/profiles/index.ts';
import { type FixedProfile, type ServeFlag, serveFlags } from './serve-options.ts';
import type { Output } from './ui/output.ts';
import { table } from './ui/table.ts';

type HelpRow = readonly [name: string, about: string];

/** The whole text. */
export function serveHelp({ style, width }: Output, fixed?: FixedProfile): string {
  const list = (rows: readonly HelpRow[]): string =>
    table(
      rows,
      [
        { title: '', text: ([name]) => name.padEnd(22), paint: (text) => style.name(text) },
        { title: '', text: ([, about]) => about },
      ],
      { style, width: Math.min(width ?? 110, 110), indent: 2, bare: true },
    );
  const title = (text: string): string => `\n${style.strong(text)}\n`;
  return [
    ...(fixed === undefined
      ? [
          'Usage: mooring serve [profile] [options] [-- DIR …]\n',
          '\nStarts an MCP server on stdin and stdout, or over HTTP. A profile is a ready-made server.\n',
          title('Profiles'),
          list(profileRows()),
        ]
      : [
          `Usage: ${fixed.program} [options] [-- DIR …]\n`,
          `\nServes ${profiles[fixed.profile]?.about}.\n`,
          `This is "mooring serve ${fixed.profile}": it serves on stdin and stdout, or over HTTP.\n`,
        ]),
    title('Features'),
    list([...flags('what'), ['-- DIR …', 'same as --root for each folder']]),
    title('HTTP'),
    list(flags('http')),
    title('Authentication over HTTP'),
    list(flags('auth')),
    title('Console'),
    list(flags('console')),
    title('Logging (to stderr)'),
    list(flags('log')),
    title('Other'),
    list(Object.entries<ServeFlag>(serveFlags).map(([flag, row]) => helpRow({ flag, ...row }))),
    title('Environment variables'),
    list(
      options.flatMap(({ env, flag, key }): HelpRow[] =>
        env === undefined || (key === 'profile' && fixed !== undefined)
          ? []
          : [[env, flag === undefined ? `same as "${key}" in the configuration file` : `same as --${flag}`]],
      ),
    ),
    '\nAll of these can also be set in the configuration file. "mooring init" creates one.\n',
  ].join('');
}

function profileRows(): HelpRow[] {
  return Object.keys(profiles)
    .sort(defaultFirst)
    .map((name) => {
      const about = profiles[name]?.about ?? '';
      return [name, name === defaultProfile ? `${about} (default)` : about];
    });
}

/** The default first, the others in alphabetical order. */
function defaultFirst(a: string, b: string): number {
  return Number(b === defaultProfile) - Number(a === defaultProfile) || (a < b ? -1 : 1);
}

function flags(section: Option['section']): HelpRow[] {
  return options.filter((option) => option.section === section && option.flag !== undefined).map(helpRow);
}

function helpRow({ flag, short, metavar, about }: Omit<ServeFlag, 'type'> & { readonly flag?: string }): HelpRow {
  const value = metavar === undefined ? '' : ` ${metavar}`;
  return [`${short === undefined ? '' : `-${short}, `}--${flag}${value}`, about];
}
