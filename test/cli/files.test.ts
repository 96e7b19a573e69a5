// mooring -- DIR: tools for the files in a folder, from the built program, over stdio and HTTP, with old and new clients.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/index.ts';
import { cli, useHome } from '../support/program.ts';

const home = useHome();

beforeEach(() => {
  mkdirSync(home.file('project/drafts'), { recursive: true });
  writeFileSync(home.file('project/a.txt'), 'one\ntwo\n');
});

const writing = ['write_file', 'edit_file', 'create_directory', 'move_file', 'delete_file'];
const names = async (client: Client): Promise<string[]> => (await client.listTools()).map(({ name }) => name);
const textOf = ({ content }: { content: readonly unknown[] }): string => (content[0] as { text: string }).text;

const revisions = ['2024-11-05', '2025-06-18', '2026-07-28'] as const;

test.each(
  revisions.flatMap((revision) => [
    [revision, 'stdio'],
    [revision, 'http'],
  ]),
)('a client of revision %s over %s reads files, and changes them with --write', async (revision, transport) => {
  const open = async (...flags: string[]): Promise<Client> => {
    const options = { revision } as Parameters<typeof connect>[1] & object;
    if (transport === 'stdio')
      return connect([process.execPath, cli, ...flags, '--', home.file('project')], { ...options, env: home.env });
    return connect((await home.serve(['local', ...flags, '--root', home.file('project')])).url, options);
  };
  const path = home.file('project/a.txt');
  const reader = await open('--log-level', 'error');
  expect(textOf(await reader.callTool('read_text_file', { path, tail: 1 }))).toBe('two');
  expect((await names(reader)).filter((name) => writing.includes(name))).toEqual([]);
  await expect(reader.callTool('delete_file', { path })).rejects.toThrow('Unknown tool');
  await reader.close();
  const writer = await open('--write');
  expect(await names(writer)).toEqual(expect.arrayContaining(writing));
  const edits = [{ oldText: 'two', newText: '2' }];
  expect(textOf(await writer.callTool('edit_file', { path, edits }))).toContain('-two\n+2');
  expect(readFileSync(path, 'utf8')).toBe('one\n2\n');
  await writer.callTool('delete_file', { path });
  expect(existsSync(path)).toBe(false);
  await writer.close();
});

test('a policy decides which folders can be written, and how large files can be', async () => {
  const policy = (files: string): string => {
    const file = home.file('policy.yaml');
    const rules = 'rules:\n  - { effect: allow, tools: ["*"], resources: ["**"], prompts: ["*"] }\n';
    writeFileSync(file, `version: 1\n${rules}files: ${files}\n`, { mode: 0o600 });
    return file;
  };
  const [project, drafts] = [home.file('project'), home.file('project/drafts')];
  const args = [
    '--write',
    '--policy',
    policy(`{ read: [${project}], write: [${drafts}], maxFile: 1KiB }`),
    '--',
    project,
  ];
  const client = await connect([process.execPath, cli, ...args], { env: home.env });
  const write = (path: string, content = 'x') => client.callTool('write_file', { path, content });
  expect(textOf(await write(home.file('project/drafts/new.txt')))).toContain('Successfully');
  expect(textOf(await write(home.file('project/new.txt')))).toContain('Read-only');
  expect(textOf(await write(home.file('project/drafts/big.txt'), 'x'.repeat(2000)))).toContain('limit of 1024 bytes');
  writeFileSync(home.file('project/big.txt'), 'x'.repeat(2000));
  const read = await client.callTool('read_text_file', { path: home.file('project/big.txt') });
  expect(textOf(read)).toContain('limit of 1024 bytes');
  await client.close();
  const rejected = await home.run(['--write', '--policy', policy(`{ read: [${project}] }`), '--', project]);
  expect(rejected.code).toBe(2);
  expect(rejected.stderr).toContain('--write is not allowed by the policy');
});

test('--write without a folder is reported', async () => {
  const { stderr, code } = await home.run(['--write'], { input: '' });
  expect(code).toBe(0);
  expect(stderr).toContain('--write has no effect without folders');
});
