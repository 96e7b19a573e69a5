import { expect, test } from 'vitest';
import {
  descriptors,
  encodeArguments,
  findHelper,
  isolationArguments,
  runArguments,
  supervisorScript,
  waitScript,
} from './bubblewrap.ts';
import { defaultLimits } from './limits.ts';

const walls = (more: Partial<Parameters<typeof isolationArguments>[0]> = {}) =>
  isolationArguments({
    directories: { readOnly: ['/srv/a'], writable: ['/srv/b'] },
    network: false,
    limits: defaultLimits,
    ...more,
  });

/** The index of an option with its values; -1 if it is not there in one piece. */
function at(args: readonly string[], ...wanted: string[]): number {
  return args.findIndex((_, index) => wanted.every((word, offset) => args[index + offset] === word));
}

test('every namespace is new, no capability is kept, and no further user namespace can be created', () => {
  const args = walls();
  for (const name of ['user', 'pid', 'ipc', 'uts', 'net']) expect(args).toContain(`--unshare-${name}`);
  expect(at(args, '--cap-drop', 'ALL')).toBeGreaterThan(0);
  for (const option of ['--disable-userns', '--die-with-parent', '--new-session', '--clearenv', '--as-pid-1']) {
    expect(args).toContain(option);
  }
});

test('the network is shared only on request, and only then its files are visible', () => {
  expect(walls()).not.toContain('/etc/resolv.conf');
  expect(walls({ network: true })).not.toContain('--unshare-net');
  expect(walls({ network: true })).toContain('/etc/resolv.conf');
});

test('directories are bound as the policy requires, and nothing else of the host is writable', () => {
  const args = walls();
  expect(at(args, '--ro-bind', '/srv/a', '/srv/a')).toBeGreaterThan(0);
  expect(at(args, '--bind', '/srv/b', '/srv/b')).toBeGreaterThan(0);
  expect(args.filter((word) => word === '--bind')).toHaveLength(1);
  expect(args.filter((word) => word.startsWith('--dev-bind'))).toEqual([]);
});

test('each temporary file system has a size, or is made read-only after everything is mounted', () => {
  const args = walls();
  const sized = (path: string, bytes: number) => at(args, '--size', String(bytes), '--tmpfs', path);
  expect(sized('/tmp', defaultLimits.maxTmpBytes)).toBeGreaterThan(0);
  expect(sized('/dev/shm', defaultLimits.maxSharedMemoryBytes)).toBeGreaterThan(0);
  expect(args.filter((word) => word === '--tmpfs')).toHaveLength(2);
  expect(at(args, '--remount-ro', '/')).toBeGreaterThan(at(args, '--bind', '/srv/b', '/srv/b'));
  expect(at(args, '--remount-ro', '/dev')).toBeGreaterThan(sized('/dev/shm', defaultLimits.maxSharedMemoryBytes));
});

test('the accounts of the host are replaced, and /etc/shadow is nowhere', () => {
  const args = walls();
  expect(at(args, '--file', String(descriptors.passwd), '/etc/passwd')).toBeGreaterThan(0);
  expect(args.some((word) => word.includes('shadow'))).toBe(false);
  expect(args).not.toContain('/etc');
});

test('options are separated by NUL, so no value can become two', () => {
  const args = runArguments(new Map([['TOKEN', 'a b --bind / /']]), '/srv/b');
  expect(encodeArguments(args).toString()).toBe('--setenv\0TOKEN\0a b --bind / /\0--chdir\0/srv/b\0');
});

test('the two shells pass their arguments on without reading them', () => {
  expect(waitScript).toBe('echo >&8 && read -r word <&8 && exec "$@" 8<&-');
  expect(supervisorScript).toContain('& "$@" 9<&-;');
  // The background process must hold none of the pipes, otherwise their end would not be seen.
  for (const descriptor of Object.values(descriptors)) {
    if (descriptor !== descriptors.keeper) expect(supervisorScript).toContain(` ${descriptor}<&-`);
  }
});

test('a helper is found by absolute path in a directory that only root can change', () => {
  expect(findHelper('cat')).toMatch(/^\/(usr\/)?bin\/cat$/);
  expect(findHelper('no-such-helper')).toBeUndefined();
  expect(findHelper('cat', ['/tmp', '.'])).toBeUndefined();
});
