// mooring init: a configuration file to start from.

import { existsSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { thisPlatform, userConfigFile } from '../../app/config/folders.ts';
import { configTemplate } from '../../app/config/template.ts';
import { requireFolder } from '../../app/make-folder.ts';
import { Mistake } from '../../app/mistake.ts';
import { defaultProfile } from '../../app/profiles/index.ts';
import { openOutput } from '../ui/output.ts';
import { readArgs } from '../usage.ts';

const help = `Usage: mooring init [FILE] [options]

Writes a commented configuration to start from, mooring.json in this folder unless FILE says otherwise.

Options:
  --user        write the one that is read without being named (${userConfigFile(thisPlatform())})
  --print       write it to stdout instead
  --force       replace a file that exists
  -h, --help    show this
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('init', args, {
    user: { type: 'boolean' },
    print: { type: 'boolean' },
    force: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  const out = openOutput();
  if (values.help === true) {
    out.write(help);
    return 0;
  }
  if (positionals.length > 1 || (positionals.length === 1 && values.user === true)) {
    throw new Mistake('One file at a time: mooring init [FILE], or mooring init --user');
  }
  const text = configTemplate(defaultProfile);
  if (values.print === true) {
    out.write(text);
    return 0;
  }
  const file = values.user === true ? userConfigFile(thisPlatform()) : resolve(positionals[0] ?? 'mooring.json');
  if (existsSync(file) && values.force !== true) {
    throw new Mistake(`${file} exists already; --force replaces it, --print shows a new one`);
  }
  requireFolder(dirname(file), 'The configuration file');
  writeFileSync(file, text, { mode: 0o600 });
  const { style } = out;
  const named = values.user === true ? '' : ` --config ${nameOf(file)}`;
  out.write(`${style.good('Written:')} ${file}\n\n`);
  out.write(`  ${style.name(`mooring config${named}`)}   shows the settings and where each comes from\n`);
  out.write(`  ${style.name(`mooring serve${named}`)}    runs with them\n`);
  return 0;
}

/** As a person here would write it: short below this folder, whole anywhere else. */
function nameOf(file: string): string {
  const short = relative('.', file);
  return short.startsWith('..') ? file : short;
}
