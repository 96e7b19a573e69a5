import { expect, test } from 'vitest';
import { defaultLimits, inheritedHardLimits, prlimitArguments, resolveLimits, workerLimits } from './limits.ts';

test('limits are the defaults with the changes of the policy', () => {
  expect(resolveLimits({ maxProcesses: 7 })).toEqual({ ...defaultLimits, maxProcesses: 7 });
});

test('a limit that limits nothing is rejected', () => {
  for (const value of [0, -1, Number.NaN, 1.5, '7' as unknown as number, null as unknown as number]) {
    expect(() => resolveLimits({ maxProcesses: value })).toThrow(RangeError);
  }
});

test('each kernel limit is set as soft and hard limit', () => {
  const args = prlimitArguments(defaultLimits, { countProcesses: true });
  expect(args).toContain('--nproc=64:64');
  expect(args).toContain('--core=0:0');
  expect(args).toContain('--nofile=256:256');
  expect(args).toContain(`--data=${512 * 1024 * 1024}:${512 * 1024 * 1024}`);
});

test('the process limit can be left out, and an infinite limit is left out', () => {
  const args = prlimitArguments(resolveLimits(workerLimits), { countProcesses: false });
  for (const option of ['--nproc', '--as', '--cpu']) expect(args.some((word) => word.startsWith(option))).toBe(false);
  expect(args).toContain(`--data=${1024 * 1024 * 1024}:${1024 * 1024 * 1024}`);
});

test('no limit is set above the inherited one, which would fail', () => {
  const inherited = inheritedHardLimits(
    [
      'Limit                     Soft Limit           Hard Limit           Units     ',
      'Max open files            64                   128                  files     ',
      'Max address space         unlimited            unlimited            bytes     ',
      'Max locked memory         0                    0                    bytes     ',
    ].join('\n'),
  );
  const args = prlimitArguments(defaultLimits, { countProcesses: true, inherited });
  expect(args).toContain('--nofile=128:128');
  expect(args).toContain('--memlock=0:0');
  expect(args).toContain(`--as=${defaultLimits.maxAddressSpaceBytes}:${defaultLimits.maxAddressSpaceBytes}`);
});
