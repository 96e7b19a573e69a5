import { expect, test } from 'vitest';
import { isolationErrors, remedyFor } from './self-check.ts';

const good = 'Name:\tcat\nPid:\t2\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n';

test('the report of an isolated process has no errors', () => {
  expect(isolationErrors(good)).toEqual([]);
});

test('each missing layer is a separate error, and an unreadable report has all of them', () => {
  expect(isolationErrors(good.replace('Seccomp:\t2', 'Seccomp:\t0'))).toEqual(['the system call filter is not active']);
  expect(isolationErrors(good.replace('NoNewPrivs:\t1', 'NoNewPrivs:\t0'))).toEqual(['set-id programs work']);
  expect(isolationErrors(good.replace('CapEff:\t0000000000000000', 'CapEff:\t000001ffffffffff'))).toHaveLength(1);
  expect(isolationErrors('')).toHaveLength(5);
});

test('the usual failures of bubblewrap come with a remedy', () => {
  expect(remedyFor('bwrap: No permissions to create a new namespace')).toMatch(/user namespaces/);
  expect(remedyFor('bwrap: setting up uid map: Permission denied')).toMatch(/user namespaces/);
  expect(remedyFor('prctl(PR_SET_SECCOMP)')).toMatch(/CONFIG_SECCOMP_FILTER/);
  expect(remedyFor('Error: spawn EPERM')).toMatch(/CAP_SETUID/);
  expect(remedyFor('something else')).toMatch(/doctor/);
});
