import { expect, test } from 'vitest';
import { startCommand } from './start-command.ts';

const shell = 'C:\\Windows\\System32\\cmd.exe';
const npx = 'C:\\Program Files\\nodejs\\npx.cmd';

test('on Windows a batch file is started by the shell, with arguments that it does not interpret', () => {
  expect(startCommand(npx, ['-y', 'some-server', 'a&b', '%PATH%', 'say "hi"', 'C:\\x\\', ''], 'win32', shell)).toEqual({
    file: shell,
    args: [
      ...['/d', '/s', '/c'],
      [
        '"C:\\Program^ Files\\nodejs\\npx.cmd',
        ...['^"-y^"', '^"some-server^"', '^"a^&b^"', '^"^%PATH^%^"'],
        ...['^"say^ \\^"hi\\^"^"', '^"C:\\x\\\\^"', '^"^""'],
      ].join(' '),
    ],
    verbatim: true,
  });
});

test('a script that a package manager made interprets its arguments once more', () => {
  const { args } = startCommand('C:\\app\\node_modules\\.bin\\serve.CMD', ['a&b'], 'win32', shell);
  expect(args.at(-1)).toBe('"C:\\app\\node_modules\\.bin\\serve.CMD ^^^"a^^^&b^^^""');
});

test('an argument of a batch file that the shell would cut is rejected', () => {
  expect(() => startCommand(npx, ['a\nb'], 'win32', shell)).toThrow('"a\\nb"');
});

test('programs, and batch files of other systems, are started as they are', () => {
  const plain = (file: string) => ({ file, args: ['a b'], verbatim: false });
  expect(startCommand('C:\\nodejs\\node.exe', ['a b'], 'win32', shell)).toEqual(plain('C:\\nodejs\\node.exe'));
  expect(startCommand('/bin/run.cmd', ['a b'], 'linux', shell)).toEqual(plain('/bin/run.cmd'));
});
