import { expect, test } from 'vitest';
import { cacheFolder } from './compile-cache.ts';

test.each([
  ['linux', {}, '/home/ada/.cache/mooring'],
  ['linux', { XDG_CACHE_HOME: '/var/cache/ada' }, '/var/cache/ada/mooring'],
  ['linux', { XDG_CACHE_HOME: 'relative' }, '/home/ada/.cache/mooring'],
  ['darwin', {}, '/home/ada/Library/Caches/mooring'],
] as const)('on %s with %o, the cache is in the folder that the platform has for it', (platform, env, folder) => {
  expect(cacheFolder({ platform, env, home: '/home/ada' })).toBe(folder);
});

test('on Windows the cache is in the local data of the user', () => {
  const home = 'C:\\Users\\ada';
  expect(cacheFolder({ platform: 'win32', env: {}, home })).toBe('C:\\Users\\ada\\AppData\\Local\\mooring\\cache');
  expect(cacheFolder({ platform: 'win32', env: { LOCALAPPDATA: 'D:\\L' }, home })).toBe('D:\\L\\mooring\\cache');
});
