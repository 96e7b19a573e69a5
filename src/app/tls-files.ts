// The certificate and its key, read from the files of the settings and checked.

import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsOptions } from '../transports/http.ts';
import type { TlsSettings } from './settings.ts';
import { UsageError } from './usage-error.ts';

/** Throws a `UsageError` if a file cannot be read, is not PEM, or if the key does not belong to the certificate. */
export function readTlsFiles(files: TlsSettings): TlsOptions {
  const cert = read(files.cert, '--tls-cert', 'certificate');
  const key = read(files.key, '--tls-key', 'private key');
  check({ cert }, `--tls-cert: ${files.cert} is not a certificate in PEM format`);
  check({ key }, `--tls-key: ${files.key} is not a private key in PEM format without a passphrase`);
  check({ cert, key }, `The key ${files.key} does not belong to the certificate ${files.cert}`);
  return { cert, key };
}

function read(file: string, flag: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT' ? 'the file does not exist' : code === 'EACCES' ? 'this user may not read the file' : message;
    throw new UsageError(`${flag}: the ${what} ${file} cannot be read: ${reason}`);
  }
}

function check(tls: { readonly cert?: string; readonly key?: string }, problem: string): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw new UsageError(`${problem} (${(cause as Error).message})`);
  }
}
