import { expect, test } from 'vitest';
import { baseEnvironment, buildEnvironment } from './environment.ts';
import { SandboxError } from './errors.ts';

test('nothing of our own environment is inherited', () => {
  expect(Object.fromEntries(buildEnvironment())).toEqual(baseEnvironment);
});

test('the policy adds and replaces, the request adds what the policy allows', () => {
  const environment = buildEnvironment({ set: { LANG: 'de_DE.UTF-8', A: '1' }, allow: ['B'] }, { B: '2' });
  expect(Object.fromEntries(environment)).toEqual({ ...baseEnvironment, LANG: 'de_DE.UTF-8', A: '1', B: '2' });
});

test('a request sets no name that the policy does not allow', () => {
  for (const name of ['B', 'PATH', 'HOME', '__proto__', 'constructor', '']) {
    expect(() => buildEnvironment({ allow: ['A'] }, Object.fromEntries([[name, 'x']]))).toThrow(SandboxError);
  }
});

test('a request cannot set a name that decides which code runs, even if the policy allows it', () => {
  const names = ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'GLIBC_TUNABLES', 'BASH_ENV', 'ENV', 'IFS', 'PATH'];
  names.push(
    'NODE_OPTIONS',
    'PERL5OPT',
    'PERL5LIB',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'RUBYOPT',
    'GIT_SSH_COMMAND',
    'PAGER',
  );
  for (const name of names) expect(() => buildEnvironment({ allow: [name] }, { [name]: 'x' })).toThrow(SandboxError);
});

test('malformed names and values are rejected, from policy and request alike', () => {
  for (const name of ['A=B', 'A B', '1A', 'A\0', 'A-B']) {
    expect(() => buildEnvironment({ set: { [name]: 'x' } })).toThrow(SandboxError);
    expect(() => buildEnvironment({ allow: [name] }, { [name]: 'x' })).toThrow(SandboxError);
  }
  expect(() => buildEnvironment({ set: { A: 'x\0y' } })).toThrow(SandboxError);
  expect(() => buildEnvironment({ allow: ['A'] }, { A: 1 as unknown as string })).toThrow(SandboxError);
});
