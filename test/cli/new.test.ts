// mooring new: the project it creates installs, compiles and passes its tests with the package as it is published.

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { useHome } from '../support/program.ts';
import { type Registry, startRegistry } from '../support/registry.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const home = useHome();
const cache = temporaryFolder();
let registry: Registry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.close());

/** Runs the commands that the program printed after "Next:". */
function runNext(printed: string): Promise<string> {
  return runShell(printed.slice(printed.indexOf('Next:\n') + 'Next:\n'.length));
}

/** Runs commands of npm with the registry of the test. */
async function runShell(commands: string): Promise<string> {
  const env = {
    ...home.env,
    npm_config_registry: registry.url,
    npm_config_cache: cache,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_loglevel: 'error',
    npm_config_ignore_scripts: 'true', // of the optional database, which a server does not use
  };
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', commands], { cwd: home.folder, env });
  return stdout;
}

/** In JavaScript it is the project that `npm create mooring` creates below. */
const languages = [
  // Its tests compile it as well.
  { language: 'TypeScript', flags: [], ext: 'ts', check: isFullRun ? 'npx tsc --noEmit' : 'true' },
  ...(isFullRun ? [{ language: 'JavaScript', flags: ['--js'], ext: 'js', check: 'true' }] : []),
];

test.skipIf(process.platform === 'win32').each(languages)(
  'a $language project passes its tests and its tool can be called',
  async ({ flags, ext, check }) => {
    const { code, stdout, stderr } = await home.run(['new', 'my-server', ...flags]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const folder = home.file('my-server');
    expect(new Set(readdirSync(join(folder, 'src')))).toEqual(
      new Set([`main.${ext}`, `server.${ext}`, `server.test.${ext}`]),
    );
    for (const file of ['Dockerfile', '.gitignore', 'README.md', '.github/workflows/ci.yml']) {
      expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(/undefined|\$\{(?!\{)/);
    }
    const printed = await runNext(`${stdout}${check}\n`);
    expect(printed).toMatch(/^# pass 2$|ℹ pass 2$/m);
    expect(printed.trimEnd().split('\n')).toContain('Hello, Ada!');
  },
  240_000,
);

test.skipIf(process.platform === 'win32')(
  'npm create mooring creates the same project, which passes its tests',
  async () => {
    const printed = await runShell('npm create --yes mooring my-server -- --js\n');
    expect(printed).toContain('npm install');
    await home.run(['new', 'same/my-server', '--js']);
    const files = (folder: string): string[] => readdirSync(home.file(folder), { recursive: true }).map(String).sort();
    expect(files('my-server')).toEqual(files('same/my-server'));
    expect(files('my-server')).toContain(join('src', 'server.test.js'));
    // By default the project gets the packages that npm installed for the command above.
    const link = `cp -r ${cache}/_npx/*/node_modules . && ln -s ${join(root, 'node_modules/zod')} node_modules`;
    expect(await runNext(isFullRun ? printed : printed.replace('npm install', link))).toMatch(/^# pass 2$|ℹ pass 2$/m);
    if (!isFullRun) return;
    await expect(runShell('npm create --yes mooring My-Server\n')).rejects.toThrow('cannot be the name of a package');
  },
  240_000,
);

test('a folder with files is left as it is', async () => {
  mkdirSync(home.file('taken'));
  writeFileSync(home.file('taken/package.json'), 'mine');
  const { code, stdout, stderr } = await home.run(['new', 'taken']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('already exists and is not empty');
  expect(readdirSync(home.file('taken'))).toEqual(['package.json']);
  expect(readFileSync(home.file('taken/package.json'), 'utf8')).toBe('mine');
});

test.each([
  [['new'], /Usage: mooring new <name>/],
  [['new', 'a', 'b'], /Usage: mooring new <name>/],
  [['new', 'My Server'], /"My Server" cannot be the name of a package/],
])('%j is a usage error that creates nothing', async (args, message) => {
  const { code, stderr } = await home.run(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(readdirSync(home.folder)).toEqual([]);
});
