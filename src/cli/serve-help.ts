// The help of `mooring serve`, made from the rows it is about. Loaded only when somebody asks.

import { type Option, options } from '../app/config/options.ts';
import { defaultProfile, profiles } from '../app/profiles/index.ts';
import type { Fixed } from './commands/serve.ts';
import type { Output } from './ui/output.ts';
import { table } from './ui/table.ts';

type Row = readonly [name: string, about: string];

/** The whole text. */
export function serveHelp({ style, width }: Output, fixed?: Fixed): string {
  const list = (rows: readonly Row[]): string =>
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
          '\nServes a ready-made MCP server on stdin and stdout, or over HTTP.\n',
          title('Profiles'),
          list(profileRows()),
        ]
      : [
          `Usage: ${fixed.program} [options] [-- DIR …]\n`,
          `\nServes ${profiles[fixed.profile]?.about}.\n`,
          `The profile is fixed: this is "mooring serve ${fixed.profile}", on stdin and stdout, or over HTTP.\n`,
        ]),
    title('What it offers'),
    list([...flags('what'), ['-- DIR …', 'the same as --root for each of them']]),
    title('Over HTTP'),
    list(flags('http')),
    title('Who may connect over HTTP'),
    list(flags('auth')),
    title('Log, on stderr'),
    list(flags('log')),
    title('Else'),
    list([
      ['--config FILE', 'settings from this file; default MOORING_CONFIG, else the user\'s own (see "mooring config")'],
      ['--show-setup', 'print what to paste into clients once it listens'],
      ['-h, --help', 'show this'],
    ]),
    title('Environment'),
    list(
      options.flatMap(({ env, flag, key }): Row[] =>
        env === undefined || (key === 'profile' && fixed !== undefined)
          ? []
          : [[env, flag === undefined ? key : `as --${flag}`]],
      ),
    ),
    '\nEverything can stand in the configuration file as well; "mooring init" writes one.\n',
  ].join('');
}

function profileRows(): Row[] {
  return Object.keys(profiles)
    .sort(defaultFirst)
    .map((name) => {
      const about = profiles[name]?.about ?? '';
      return [name, name === defaultProfile ? `${about} (default)` : about];
    });
}

/** What most people want stands first, the rest by the alphabet. */
function defaultFirst(a: string, b: string): number {
  return Number(b === defaultProfile) - Number(a === defaultProfile) || (a < b ? -1 : 1);
}

function flags(section: Option['section']): Row[] {
  return options
    .filter((option) => option.section === section && option.flag !== undefined)
    .map(({ flag, metavar, about }) => [`--${flag}${metavar === undefined ? '' : ` ${metavar}`}`, about]);
}
