import { expect, test } from 'vitest';
import { childEnvironment } from './environment.ts';

test('on Windows a variable that is given replaces one whose name differs in case', () => {
  const own = { Path: 'C:\\nodejs', TEMP: 'C:\\temp' };
  expect(childEnvironment({ PATH: 'D:\\tools' }, true, own, 'win32')).toEqual({ PATH: 'D:\\tools', TEMP: 'C:\\temp' });
  expect(childEnvironment({ PATH: '/bin' }, true, { Path: '/a' }, 'linux')).toEqual({ Path: '/a', PATH: '/bin' });
});
