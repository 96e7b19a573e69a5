// Self-signed certificates for tests, written as DER: Node.js can create keys and signatures, but no certificates.

import { generateKeyPairSync, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const time = (date: Date): Buffer =>
  der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`, 'ascii'));

/** A certificate for an IPv4 address or a host name, valid until some days after now. */
export function createCertificate(host: string, days: number): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // commonName: each certificate has its own, so that one is not taken for the issuer of another.
  const commonName = der(0x0c, Buffer.from(`test ${host} ${days}`));
  const name = sequence(der(0x31, sequence(oid('550403'), commonName)));
  const altName = isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
  const subjectAltName = sequence(oid('551d11'), der(0x04, sequence(altName)));
  const day = 24 * 3600 * 1000;
  const end = new Date(Date.now() + days * day);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, Math.abs(days) & 127])),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(end.getTime() - 400 * day)), time(end)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAltName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const text = sequence(body, ecdsaWithSha256, signature).toString('base64');
  const cert = `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert };
}
