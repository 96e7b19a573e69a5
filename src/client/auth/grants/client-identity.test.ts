import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { tokenOnlyMetadata } from '../discovery/server-metadata.ts';
import { chooseMethod, registrationMethod, toIdentity } from './client-identity.ts';

const server = (methods?: string[]) => ({
  ...tokenOnlyMetadata('https://as.example', 'https://as.example/token'),
  tokenAuthMethods: methods,
});
const key = 'any key';

test('the strongest method that both sides have is taken', () => {
  const all = ['none', 'client_secret_post', 'client_secret_basic', 'private_key_jwt'];
  expect(chooseMethod({ clientSecret: 's', privateKey: key }, server(all))).toBe('private_key_jwt');
  expect(chooseMethod({ clientSecret: 's' }, server(all))).toBe('client_secret_basic');
  expect(chooseMethod({ clientSecret: 's' }, server(['client_secret_post', 'none']))).toBe('client_secret_post');
  expect(chooseMethod({ clientSecret: 's' }, server(['none']))).toBe('none');
  expect(chooseMethod({}, server(all))).toBe('none');
});

test('without a list the server is taken to know basic, and public clients need nothing', () => {
  expect(chooseMethod({ clientSecret: 's' }, server())).toBe('client_secret_basic');
  expect(chooseMethod({}, server())).toBe('none');
  expect(chooseMethod({}, server(['client_secret_basic']))).toBe('none');
});

test('a server that wants what we do not have is named', () => {
  expect(() => chooseMethod({ clientSecret: 's' }, server(['tls_client_auth']))).toThrow(
    expect.objectContaining({
      code: 'client-authentication-unsupported',
      message: expect.stringContaining('tls_client_auth'),
    }),
  );
  expect(() => registrationMethod(server(['private_key_jwt']))).toThrow();
});

test('a registration asks for no secret unless it must', () => {
  expect(registrationMethod(server())).toBe('none');
  expect(registrationMethod(server(['client_secret_basic', 'none']))).toBe('none');
  expect(registrationMethod(server(['client_secret_post', 'client_secret_basic']))).toBe('client_secret_basic');
});

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ed = generateKeyPairSync('ed25519').privateKey;

test.each([
  ['EC in PKCS#8', ec.export({ type: 'pkcs8', format: 'pem' }) as string, undefined, 'ECDSA'],
  ['EC in SEC 1', ec.export({ type: 'sec1', format: 'pem' }) as string, undefined, 'ECDSA'],
  ['EC as JWK', ec.export({ format: 'jwk' }) as JsonWebKey, 'ES256', 'ECDSA'],
  ['RSA', rsa.export({ type: 'pkcs8', format: 'pem' }) as string, undefined, 'RSASSA-PKCS1-v1_5'],
  ['RSA with PSS', rsa.export({ type: 'pkcs8', format: 'pem' }) as string, 'PS384', 'RSA-PSS'],
  ['Ed25519', ed.export({ type: 'pkcs8', format: 'pem' }) as string, undefined, 'Ed25519'],
])('a private key may be %s', async (_name, privateKey, algorithm, expected) => {
  const identity = await toIdentity({ clientId: 'c', privateKey, algorithm, keyId: 'k1' }, server(['private_key_jwt']));
  expect(identity).toMatchObject({ method: 'private_key_jwt', privateKey: { kid: 'k1' } });
  expect(identity.privateKey?.key.algorithm.name).toBe(expected);
  expect(identity.privateKey?.key.extractable).toBe(false);
});

test('a key that cannot be used is a matter of configuration, and not repeated', async () => {
  await expect(toIdentity({ clientId: 'c', privateKey: 'SECRET' }, server(['private_key_jwt']))).rejects.toMatchObject({
    code: 'configuration',
    message: expect.not.stringContaining('SECRET'),
  });
  await expect(toIdentity({ clientId: 'c', method: 'private_key_jwt' }, server())).rejects.toMatchObject({
    code: 'configuration',
  });
});
