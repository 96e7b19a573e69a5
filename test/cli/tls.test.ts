// mooring serve with a certificate: HTTPS and wss, SIGHUP, and files that cannot be used.

import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { createCertificate } from '../support/certificate.ts';
import { useHome } from '../support/program.ts';

const home = useHome();
const [first, second] = [createCertificate('127.0.0.1', 30), createCertificate('127.0.0.1', 60)];

function put({ cert, key }: { readonly cert: string; readonly key: string }): void {
  writeFileSync(home.file('cert.pem'), cert);
  writeFileSync(home.file('key.pem'), key, { mode: 0o600 });
}

/** The certificate that a server shows. */
function shown(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().raw.toString('base64'));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

const body = (pem: string): string => pem.replace(/-----[A-Z ]+-----|\s/g, '');

test('with a certificate, HTTPS and wss are served', async () => {
  put(first);
  const { url } = await home.serve(['everything', '--tls-cert', 'cert.pem', '--tls-key', 'key.pem']);
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const env = { NODE_EXTRA_CA_CERTS: home.file('cert.pem') };
  for (const target of [url, url.replace('https', 'wss')]) {
    const { code, stdout, stderr } = await home.run(['call', target, 'test_simple_text'], { env });
    expect(`${code} ${stdout}${stderr}`, target).toBe('0 This is a simple text response for testing.\n');
  }
});

test('SIGHUP replaces the certificate, and keeps it while the files are invalid', async () => {
  put(first);
  const env = { MOORING_TLS_CERT: 'cert.pem', MOORING_TLS_KEY: 'key.pem' };
  const { url, child, said } = await home.serve(['everything'], { env });
  expect(await shown(url)).toBe(body(first.cert));
  put(second);
  child.kill('SIGHUP');
  await expect.poll(said).toContain('settings reloaded');
  expect(await shown(url)).toBe(body(second.cert));
  put({ cert: first.cert, key: second.key });
  child.kill('SIGHUP');
  await expect.poll(said).toContain('the settings were not reloaded, and nothing has changed: The key');
  expect(await shown(url)).toBe(body(second.cert));
  expect(said()).not.toContain('need a restart');
});

test.each([
  ['only a certificate', ['--tls-cert', 'cert.pem'], 'Add --tls-key FILE'],
  ['only a key', ['--tls-key', 'key.pem'], 'Add --tls-cert FILE'],
  [
    'a missing file',
    ['--tls-cert', 'none.pem', '--tls-key', 'key.pem'],
    'none.pem cannot be read: there is no such file',
  ],
  ['a folder', ['--tls-cert', 'cert.pem', '--tls-key', '.'], 'cannot be read: it is a folder'],
  ['text', ['--tls-cert', 'text.pem', '--tls-key', 'key.pem'], 'text.pem is not a certificate in PEM format'],
  ['another key', ['--tls-cert', 'cert.pem', '--tls-key', 'other.pem'], 'does not belong to the certificate'],
  [
    'files in the wrong order',
    ['--tls-cert', 'key.pem', '--tls-key', 'cert.pem'],
    'is not a certificate in PEM format',
  ],
])('%s is a usage error', async (_what, flags, message) => {
  put(first);
  writeFileSync(home.file('other.pem'), second.key);
  writeFileSync(home.file('text.pem'), 'hello');
  const { code, stderr } = await home.run(['serve', 'everything', '--http', '--port', '0', ...flags]);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain(readFileSync(home.file('key.pem'), 'utf8').split('\n')[1]);
  expect(code).toBe(2);
});
