// The certificate and its key, read from the files of the settings and checked.

import { createSecureContext } from 'node:tls';
import type { TlsOptions } from '../../transports/http.ts';
import { UsageError } from '../usage-error.ts';
import { readFileOf } from './read-file-of.ts';
import type { TlsSettings } from './settings.ts';

/** Throws a `UsageError` if a file cannot be read, is not PEM, or if the key does not belong to the certificate. */
export function readTlsFiles(files: TlsSettings): TlsOptions {
  const cert = readFileOf('--tls-cert', files.cert);
  const key = readFileOf('--tls-key', files.key);
  check({ cert }, `--tls-cert: ${files.cert} is not a certificate in PEM format`);
  check({ key }, `--tls-key: ${files.key} is not a private key in PEM format without a passphrase`);
  check({ cert, key }, `The key ${files.key} does not belong to the certificate ${files.cert}`);
  return { cert, key };
}

function check(tls: { readonly cert?: string; readonly key?: string }, problem: string): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw new UsageError(`${problem} (${(cause as Error).message})`);
  }
}
