import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { findControlGroups } from './cgroup.ts';

let root: string;

beforeEach(() => {
  root = temporaryFolder();
});

function directory(path: string, files: Record<string, string>): void {
  mkdirSync(join(root, path), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, path, name), text);
}

const mount = (path: string, type: string, options: string) =>
  `30 20 0:26 / ${join(root, path)} rw,relatime - ${type} cgroup ${options}\n`;

test('version 2: groups are created beside our own, if memory and processes are accounted there', () => {
  directory('user.slice', { 'cgroup.subtree_control': 'cpu memory pids\n' });
  directory('user.slice/us.scope', { 'cgroup.subtree_control': '' });
  const home = findControlGroups({ mountinfo: mount('', 'cgroup2', 'rw'), cgroup: '0::/user.slice/us.scope\n' });
  expect(home).toMatchObject({ version: 2, directories: [join(root, 'user.slice')] });
});

test('version 2: no groups if the controllers are missing', () => {
  directory('', { 'cgroup.subtree_control': 'cpu\n' });
  expect(findControlGroups({ mountinfo: mount('', 'cgroup2', 'rw'), cgroup: '0::/\n' })).toBeUndefined();
});

test('version 1: groups are created below our own in each hierarchy', () => {
  directory('memory/ours', { 'cgroup.procs': '' });
  directory('pids', { 'cgroup.procs': '' });
  const mountinfo = mount('memory', 'cgroup', 'rw,memory') + mount('pids', 'cgroup', 'rw,pids');
  const home = findControlGroups({ mountinfo, cgroup: '4:memory:/ours\n8:pids:/\n' });
  expect(home).toMatchObject({ version: 1, directories: [join(root, 'memory/ours'), join(root, 'pids')] });
});

test('version 1: both hierarchies are needed', () => {
  directory('memory', { 'cgroup.procs': '' });
  expect(
    findControlGroups({ mountinfo: mount('memory', 'cgroup', 'rw,memory'), cgroup: '4:memory:/\n' }),
  ).toBeUndefined();
});

test('a group that cannot be limited is not created', async () => {
  directory('memory', { 'cgroup.procs': '' });
  directory('pids', { 'cgroup.procs': '' });
  const mountinfo = mount('memory', 'cgroup', 'rw,memory') + mount('pids', 'cgroup', 'rw,pids');
  const home = findControlGroups({ mountinfo, cgroup: '4:memory:/\n8:pids:/\n' })!;
  await expect(home.create({ maxMemoryBytes: 1, maxProcesses: 1 } as never)).rejects.toThrow(/memory/);
  expect(readdirSync(join(root, 'pids'))).toEqual(['cgroup.procs']);
});

test('a group that a process with the number of this one left behind is not in the way', async () => {
  for (const hierarchy of ['memory', 'pids']) {
    directory(hierarchy, { 'cgroup.procs': '' });
    for (let n = 0; n < 10; n++) directory(`${hierarchy}/mooring-${process.pid}-${n}`, {});
  }
  const mountinfo = mount('memory', 'cgroup', 'rw,memory') + mount('pids', 'cgroup', 'rw,pids');
  const home = findControlGroups({ mountinfo, cgroup: '4:memory:/\n8:pids:/\n' })!;
  // In a real hierarchy the group has the file that is missing here.
  const created = home.create({ maxMemoryBytes: 1, maxProcesses: 1 } as never);
  await expect(created).rejects.toThrow('The control group has no memory.limit_in_bytes');
});
