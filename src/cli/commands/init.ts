// mooring init: creates a configuration file.

import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { thisPlatform, userConfigFile } from '../../app/config/folders.ts';
import { configTemplate } from '../../app/config/template.ts';
import { requireFolder } from '../../app/make-folder.ts';
import { defaultProfile } from '../../app/profiles/index.ts';
import { UsageError } from '../../app/usage-error.ts';
import { writeOwnFile } from '../../app/write-file.ts';
import { command } from '../command.ts';

const help = `Usage: mooring init [FILE] [options]

Creates a configuration file with comments that explain the most common settings. Default: mooring.json in this folder.

Options:
  --user        create your user configuration, which every command reads by default
                (${userConfigFile(thisPlatform())})
  --print       print the file to stdout instead
  --force       replace an existing file
  -h, --help    show this help
`;

const options = {
  user: { type: 'boolean' },
  print: { type: 'boolean' },
  force: { type: 'boolean' },
} as const;

export const run = command({ name: 'init', help, options }, async ({ values, positionals, out }) => {
  if (positionals.length > 1 || (positionals.length === 1 && values.user === true)) {
    throw new UsageError('Give one file at a time: mooring init [FILE], or mooring init --user');
  }
  const text = configTemplate(defaultProfile);
  if (values.print === true) {
    out.write(text);
    return 0;
  }
  const file = values.user === true ? userConfigFile(thisPlatform()) : resolve(positionals[0] ?? 'mooring.json');
  if (existsSync(file) && values.force !== true) {
    throw new UsageError(`${file} already exists. Replace it with --force, or print a new one with --print`);
  }
  requireFolder(dirname(file), 'The configuration file');
  writeOwnFile(file, text, 'Choose another one with mooring init FILE, or print it with --print');
  const { style } = out;
  const named = values.user === true ? '' : ` --config ${nameOf(file)}`;
  out.write(`${style.good('Created:')} ${file}\n\n`);
  out.write(`  ${style.name(`mooring config${named}`)}   shows the settings and where each one comes from\n`);
  out.write(`  ${style.name(`mooring serve${named}`)}    starts the server with them\n`);
  return 0;
});

/** Relative for a file below this folder, absolute otherwise. */
function nameOf(file: string): string {
  const short = relative('.', file);
  return short.startsWith('..') ? file : short;
}
