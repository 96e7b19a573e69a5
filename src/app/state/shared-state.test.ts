import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { resolveSettings } from '../config/resolve.ts';
import type { RedisSettings } from '../settings/settings.ts';
import { redisOptions } from './shared-state.ts';

const folder = temporaryFolder();

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const certificate = '-----BEGIN CERTIFICATE-----\nxyz\n-----END CERTIFICATE-----';
const key = '-----BEGIN EC PRIVATE KEY-----\nxyz\n-----END EC PRIVATE KEY-----';

const files = {
  ca: write('ca.pem', `${certificate}\n`),
  cert: write('cert.pem', certificate),
  key: write('key.pem', key),
  password: write('password', 'one\n'),
  sentinel: write('sentinel', 'two\n'),
};

/** The settings of a command line and an environment. */
async function settingsOf(store: string, env: Record<string, string> = {}): Promise<RedisSettings> {
  const platform = { home: folder, platform: process.platform, env: {} };
  const { settings } = await resolveSettings({ flags: { http: ['true'], store: [store] }, env, cwd: folder, platform });
  return settings.redis as RedisSettings;
}

test('certificates and passwords are read from their files', async () => {
  const env = {
    MOORING_REDIS_CA_FILE: files.ca,
    MOORING_REDIS_CERT_FILE: files.cert,
    MOORING_REDIS_KEY_FILE: files.key,
    MOORING_REDIS_PASSWORD_FILE: files.password,
    MOORING_REDIS_SENTINEL_PASSWORD_FILE: files.sentinel,
  };
  expect(redisOptions(await settingsOf('rediss-sentinel://host#main', env))).toEqual({
    url: 'rediss-sentinel://host#main',
    waitReplicas: 0,
    password: 'one',
    sentinelPassword: 'two',
    tls: { ca: certificate, cert: certificate, key },
  });
});

test('without them there is only the address', async () => {
  expect(redisOptions(await settingsOf('redis://host'))).toEqual({ url: 'redis://host', waitReplicas: 0 });
});

test.each([
  ['redis://host', { MOORING_REDIS_CA_FILE: 'ca.pem' }, 'Certificates have no effect without TLS'],
  ['rediss://host', { MOORING_REDIS_SENTINEL_PASSWORD: 'x' }, 'The password of the Sentinels has no effect'],
  ['rediss://host', { MOORING_REDIS_CA_FILE: 'password' }, 'has no certificate in the PEM format'],
  ['rediss://host', { MOORING_REDIS_CA_FILE: 'missing' }, 'missing cannot be read: there is no such file'],
  ['rediss://host', { MOORING_REDIS_CERT_FILE: 'cert.pem' }, 'Set redis.keyFile (MOORING_REDIS_KEY_FILE) as well'],
  ['rediss://host', { MOORING_REDIS_KEY_FILE: 'key.pem' }, 'Set redis.certFile (MOORING_REDIS_CERT_FILE) as well'],
  [
    'redis://host',
    { MOORING_REDIS_PASSWORD: 'x', MOORING_REDIS_PASSWORD_FILE: 'password' },
    'MOORING_REDIS_PASSWORD and MOORING_REDIS_PASSWORD_FILE are both set',
  ],
])('%s with %o is a usage error', async (store, env, message) => {
  await expect(settingsOf(store, env as Record<string, string>).then(redisOptions)).rejects.toThrow(message);
});

test('settings of Redis without an address are a usage error', async () => {
  const platform = { home: folder, platform: process.platform, env: {} };
  const env = { MOORING_REDIS_CA_FILE: 'ca.pem' };
  await expect(resolveSettings({ env, cwd: folder, platform })).rejects.toThrow(
    'MOORING_REDIS_CA_FILE has no effect without --store URL',
  );
});
