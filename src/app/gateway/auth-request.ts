// What the "auth" of a server says, as options of an authorizer.

import type { PreRegisteredClient } from '../../client/index.ts';
import { readFileOf } from '../settings/read-file-of.ts';

export function requestOf({
  scopes,
  resource,
  extraParams,
}: {
  readonly scopes?: readonly string[] | undefined;
  readonly resource?: string | undefined;
  readonly extraParams?: Readonly<Record<string, string>> | undefined;
}) {
  return {
    ...(scopes === undefined ? {} : { scopes }),
    ...(resource === undefined ? {} : { resource }),
    ...(extraParams === undefined ? {} : { extraParams }),
  };
}

export function clientOf(auth: {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly privateKeyFile?: string | undefined;
  readonly keyAlgorithm?: string | undefined;
  readonly issuer?: string | undefined;
}): PreRegisteredClient {
  const { clientId, clientSecret, privateKeyFile, keyAlgorithm, issuer } = auth;
  return {
    clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(privateKeyFile === undefined ? {} : { privateKey: readFileOf('auth.privateKeyFile', privateKeyFile) }),
    ...(keyAlgorithm === undefined ? {} : { algorithm: keyAlgorithm }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}
