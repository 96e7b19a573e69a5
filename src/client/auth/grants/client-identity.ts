// The identity of this client at an authorization server, and which proof of it is accepted at its token endpoint.
import { createPrivateKey, type JsonWebKeyInput, type webcrypto } from 'node:crypto';
import type { ServerMetadata } from '../discovery/server-metadata.ts';
import { authErrors } from '../errors.ts';

/** How a client proves its identity at the token endpoint. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A private key for `private_key_jwt`: PEM text, a JWK, or a key already imported. */
export type ClientPrivateKey = string | webcrypto.JsonWebKey | webcrypto.CryptoKey;

/** A client registered with an authorization server beforehand. */
export interface PreRegisteredClient {
  /** The id that the authorization server gave it. */
  readonly clientId: string;
  /** Its secret; absent for a public client or one with a private key. */
  readonly clientSecret?: string;
  /** Signs assertions instead of a secret. */
  readonly privateKey?: ClientPrivateKey;
  /** Of the private key, where its type leaves a choice (`RS256` or `PS256`); else ES256, ES384, Ed25519, RS256. */
  readonly algorithm?: string;
  /** The `kid` of assertions. */
  readonly keyId?: string;
  /** Overrides the choice by metadata. */
  readonly method?: ClientAuthMethod;
  /**
   * The authorization server that issued it. Without it the first authorization server the MCP server names is taken
   * and remembered; if it is set, no other server can ever receive the secret.
   */
  readonly issuer?: string;
}

/** The identity used with one authorization server. */
export interface ClientIdentity {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly privateKey?: { readonly key: webcrypto.CryptoKey; readonly kid?: string };
  readonly method: ClientAuthMethod;
}

/** Chooses the strongest method that both sides have. */
export async function toIdentity(
  client: Omit<PreRegisteredClient, 'issuer'>,
  metadata: ServerMetadata,
): Promise<ClientIdentity> {
  const method = client.method ?? chooseMethod(client, metadata);
  const privateKey = method === 'private_key_jwt' ? await importKey(client) : undefined;
  return {
    clientId: client.clientId,
    method,
    ...(client.clientSecret === undefined ? {} : { clientSecret: client.clientSecret }),
    ...(privateKey === undefined ? {} : { privateKey }),
  };
}

/** Picks by metadata; a list that is absent means `client_secret_basic` (RFC 8414 §2). */
export function chooseMethod(
  client: Pick<PreRegisteredClient, 'clientSecret' | 'privateKey'>,
  metadata: ServerMetadata,
): ClientAuthMethod {
  const supported = metadata.tokenAuthMethods;
  const able: ClientAuthMethod[] = [];
  if (client.privateKey !== undefined) able.push('private_key_jwt');
  if (client.clientSecret !== undefined) able.push('client_secret_basic', 'client_secret_post');
  // Servers often leave "none" out of the list and still take public clients, so it is also the last resort.
  if (able.length === 0) return 'none';
  if (supported === undefined) return able[0]!;
  const method = [...able, 'none' as const].find((one) => supported.includes(one));
  if (method === undefined) throw authErrors.clientAuthenticationUnsupported(metadata.issuer, supported);
  return method;
}

/** The method to ask for in a registration: a client on a user's machine keeps no secret if it may. */
export function registrationMethod(metadata: ServerMetadata): ClientAuthMethod {
  const supported = metadata.tokenAuthMethods;
  if (supported === undefined || supported.includes('none')) return 'none';
  const known = (['client_secret_basic', 'client_secret_post'] as const).find((one) => supported.includes(one));
  if (known === undefined) throw authErrors.clientAuthenticationUnsupported(metadata.issuer, supported);
  return known;
}

async function importKey(client: Omit<PreRegisteredClient, 'issuer'>): Promise<ClientIdentity['privateKey']> {
  const { privateKey, algorithm, keyId } = client;
  if (privateKey === undefined) throw authErrors.configuration('private_key_jwt needs a privateKey');
  const kid = keyId === undefined ? {} : { kid: keyId };
  if (privateKey instanceof CryptoKey) return { key: privateKey, ...kid };
  try {
    const key = createPrivateKey(
      typeof privateKey === 'string' ? privateKey : ({ key: privateKey, format: 'jwk' } as JsonWebKeyInput),
    );
    const jwk = key.export({ format: 'jwk' });
    const imported = await crypto.subtle.importKey(
      'jwk',
      jwk as webcrypto.JsonWebKey,
      importParams(jwk, algorithm),
      false,
      ['sign'],
    );
    return { key: imported, ...kid };
  } catch (error) {
    throw authErrors.configuration(`the client's private key cannot be used (${(error as Error).message})`);
  }
}

function importParams(
  jwk: { kty?: string; crv?: string },
  algorithm: string | undefined,
): Algorithm | EcKeyImportParams | RsaHashedImportParams {
  if (jwk.kty === 'EC') return { name: 'ECDSA', namedCurve: jwk.crv ?? 'P-256' };
  if (jwk.kty === 'OKP') return { name: 'Ed25519' };
  const name = algorithm?.startsWith('PS') ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5';
  return { name, hash: `SHA-${algorithm?.slice(-3) ?? '256'}` };
}
