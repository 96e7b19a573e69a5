// mooring new: creates a project for a server of your own.

import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { requireFolder } from '../../app/make-folder.ts';
import { projectFiles } from '../../app/project-template.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';

const help = `Usage: mooring new <name> [options]

Creates a folder with a small server: one tool, a test, a Dockerfile and a workflow for GitHub Actions. The name is
also the name of the package. Existing files are never changed.

Options:
  --js          JavaScript instead of TypeScript
  -h, --help    show this help
`;

/** What npm accepts as the name of a package without a scope, and Docker as the name of an image. */
const packageName = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;
/** npm's limit. */
const maxNameLength = 214;

const options = {
  js: { type: 'boolean' },
} as const;

export const run = command({ name: 'new', help, options }, async ({ values, positionals, out }) => {
  const [target, ...more] = positionals;
  if (target === undefined || more.length > 0) throw new UsageError('Usage: mooring new <name> [--js]');
  const folder = resolve(target);
  const name = basename(folder);
  if (!packageName.test(name) || name.length > maxNameLength) {
    throw new UsageError(
      `${JSON.stringify(name)} cannot be the name of a package. Use lower-case letters, digits and hyphens, such as my-server`,
    );
  }
  requireEmpty(folder);
  const files = projectFiles(name, values.js === true ? 'javascript' : 'typescript');
  requireFolder(folder, 'The folder of the project', 0o777);
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  }

  const { style } = out;
  const shown = relative('.', folder);
  out.write(
    `${style.good('Created:')} ${folder}\n${Object.keys(files)
      .map((path) => `  ${path}\n`)
      .join('')}\n`,
  );
  out.write('Next:\n');
  const program = values.js === true ? 'src/main.js' : 'dist/main.js';
  const commands = [
    ...(shown === '' ? [] : [`cd ${/^[\w./-]+$/.test(shown) ? shown : JSON.stringify(shown)}`]),
    'npm install',
    'npm test',
    `npx mooring call "node ${program}" greet --arg name=Ada`,
  ];
  for (const command of commands) out.write(`  ${style.name(command)}\n`);
  return 0;
});

/** A folder that is new or empty: a project is never mixed with other files. */
function requireEmpty(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw new UsageError(`${folder} already exists and is not a folder. Choose another name`);
  if (readdirSync(folder).length > 0) {
    throw new UsageError(`${folder} already exists and is not empty. Choose another name, or empty the folder first`);
  }
}
