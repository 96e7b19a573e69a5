import { homedir, userInfo } from 'node:os';
import { afterEach, expect, test, vi } from 'vitest';
import { defaultCredentialFile } from '../../client/auth/index.ts';
import { credentialFile, dataFolder, thisPlatform, userConfigFile } from './folders.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('without HOME and without an account, the error says what to set', () => {
  for (const name of ['HOME', 'USERPROFILE']) vi.stubEnv(name, undefined);
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue({
    homedir() {
      throw new Error('uv_os_homedir returned ENOENT');
    },
  } as never);
  expect(() => thisPlatform()).toThrow('The home folder is not known: this user has no account here. Set HOME');
});

test.skipIf(process.platform === 'win32')('with an empty HOME the folders are those of the user account', () => {
  vi.stubEnv('HOME', '');
  expect(thisPlatform().home).toBe(userInfo().homedir);
  expect(defaultCredentialFile({}, 'linux')).toBe(credentialFile({ ...thisPlatform({}), platform: 'linux' }));
});

test.each([
  ['linux', {}, '/h/.local/share/mooring', '/h/.config/mooring/mooring.json'],
  ['linux', { XDG_DATA_HOME: '/d', XDG_CONFIG_HOME: '/c' }, '/d/mooring', '/c/mooring/mooring.json'],
  [
    'linux',
    { XDG_DATA_HOME: 'relative', XDG_CONFIG_HOME: '' },
    '/h/.local/share/mooring',
    '/h/.config/mooring/mooring.json',
  ],
  ['darwin', {}, '/h/Library/Application Support/mooring', '/h/Library/Application Support/mooring/mooring.json'],
  ['win32', { LOCALAPPDATA: 'C:\\L', APPDATA: 'C:\\R' }, 'C:\\L\\mooring', 'C:\\R\\mooring\\mooring.json'],
  ['win32', {}, '\\h\\AppData\\Local\\mooring', '\\h\\AppData\\Roaming\\mooring\\mooring.json'],
] as const)('on %s with %j the standard folders are used', (platform, env, data, config) => {
  expect(dataFolder({ platform, env, home: '/h' })).toBe(data);
  expect(userConfigFile({ platform, env, home: '/h' })).toBe(config);
});

test.each([
  ['linux', {}],
  ['linux', { XDG_STATE_HOME: '/s' }],
  ['darwin', {}],
] as const)('credentials are where the client keeps them: %s with %j', (platform, env) => {
  expect(credentialFile({ platform, env, home: homedir() })).toBe(defaultCredentialFile(env, platform));
});

test('on Windows credentials are in the local part of the profile', () => {
  const at = { platform: 'win32', env: { LOCALAPPDATA: 'C:\\L' }, home: 'C:\\h' } as const;
  expect(credentialFile(at)).toBe('C:\\L\\mooring\\credentials.json');
});
