// The commands of docs/quick-start.md, run as they are printed, in an empty folder, with the package as it is published.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useHome } from '../support/program.ts';
import { startRegistry } from '../support/registry.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/quick-start.md'), 'utf8');
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] as string;
const home = useHome();

test('there are at most five commands', () => {
  const commands = block('sh').replace(/<<'END'\n[\s\S]*?\nEND\n/g, '\n');
  expect(commands.trim().split('\n').length).toBeLessThanOrEqual(5);
});

test.skipIf(process.platform === 'win32')(
  'they lead from an empty folder to a tool called from a client',
  async () => {
    const registry = await startRegistry();
    const env = {
      ...home.env,
      npm_config_registry: registry.url,
      npm_config_cache: join(home.path, 'npm'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_loglevel: 'error',
      npm_config_omit: 'optional', // the database of the ready-made servers
    };
    const { stdout } = await promisify(execFile)('sh', ['-e', '-c', block('sh')], { cwd: home.folder, env }).finally(
      () => registry.close(),
    );
    expect(stdout).toContain(block('text'));
  },
  240_000,
);

test('the picture in the README shows the same', () => {
  const picture = readFileSync(join(root, 'docs/images/quick-start.svg'), 'utf8')
    .replace(/<\/text>/g, '\n')
    .replace(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
  const lines = picture.split('\n').map((line) => line.trim());
  for (const line of block('text').trim().split('\n')) expect(lines).toContain(line.trim());
  for (const line of block('sh').trim().split('\n').slice(-2)) expect(lines).toContain(`$ ${line}`);
});
