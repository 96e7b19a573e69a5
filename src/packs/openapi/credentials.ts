// Which credentials of the operator the requests of an operation carry, and where.

import type { JsonObject } from '../../protocol/model.ts';
import { type OpenApiDocument, OpenApiError } from './document.ts';
import type { ApiOperation } from './operations.ts';
import type { FixedParts } from './request.ts';

export type GivenCredentials = string | Readonly<Record<string, string>>;

/** A credential as a request carries it. */
interface Credential {
  readonly place: keyof FixedParts;
  readonly name: string;
  readonly value: string;
}

/** The credentials by security scheme. */
export class ApiCredentials {
  readonly #byScheme: ReadonlyMap<string, Credential>;
  /** What no text may contain. */
  readonly #secrets: readonly string[];

  /** Throws for a scheme that the document does not have, or that is not supported. */
  constructor(document: OpenApiDocument, given: GivenCredentials = {}) {
    const named = typeof given === 'string' ? { [onlyScheme(document)]: given } : given;
    this.#byScheme = new Map(
      Object.entries(named).map(([scheme, value]) => [scheme, toCredential(document, scheme, value)]),
    );
    const sent = [...this.#byScheme.values()].map(({ value }) => value);
    // Shorter ones may be part of any word.
    this.#secrets = [...Object.values(named), ...sent].filter((each) => each.length >= 6);
  }

  /** For the first way to authenticate for which there are all credentials. Undefined: there is none. */
  partsFor({ security }: Pick<ApiOperation, 'security'>): FixedParts | undefined {
    const parts = { headers: {}, query: {}, cookies: {} } as Record<keyof FixedParts, Record<string, string>>;
    const ways = security ?? this.#onlyWay();
    if (ways.length === 0) return parts;
    const possible = ways.filter((schemes) => schemes.every((scheme) => this.#byScheme.has(scheme)));
    // Without credentials only if there is no way with them.
    const chosen = possible.find((schemes) => schemes.length > 0) ?? possible[0];
    if (chosen === undefined) return undefined;
    for (const scheme of chosen) {
      const { place, name, value } = this.#byScheme.get(scheme) as Credential;
      parts[place][name] = value;
    }
    return parts;
  }

  /** For operations of which the document does not say how to authenticate: with the credential, if there is one. */
  #onlyWay(): readonly (readonly string[])[] {
    return this.#byScheme.size === 1 ? [[...this.#byScheme.keys()]] : [];
  }

  /** Replaces credentials that an API repeats in its errors. */
  hideIn(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
  }
}

/** A document without any security scheme often belongs to an API that wants a bearer token. */
const undeclared = 'bearer';

function onlyScheme({ securitySchemes }: OpenApiDocument): string {
  const [name = undeclared, ...others] = Object.keys(securitySchemes);
  if (others.length === 0) return name;
  throw new OpenApiError(
    `The document has several security schemes (${Object.keys(securitySchemes).join(', ')}). Name the one that the credential is for`,
  );
}

function toCredential(document: OpenApiDocument, scheme: string, value: unknown): Credential {
  const quoted = JSON.stringify(scheme);
  if (typeof value !== 'string' || value === '') throw new OpenApiError(`The credential for ${quoted} is empty`);
  const credential = placed(schemeOf(document, scheme), value);
  if (credential === undefined) {
    throw new OpenApiError(
      `The security scheme ${quoted} is not supported: it is none of apiKey, basic, bearer, oauth2 and openIdConnect`,
    );
  }
  if (credential.place === 'headers' && !/^[\x20-\x7e\x80-\xff]+$/.test(credential.value)) {
    throw new OpenApiError(
      `The credential for ${quoted} cannot be sent: it has line breaks, or characters that headers do not have`,
    );
  }
  return credential;
}

function schemeOf(document: OpenApiDocument, name: string): JsonObject {
  const schemes = document.securitySchemes;
  if (Object.hasOwn(schemes, name)) return document.resolve(schemes[name]);
  const known = Object.keys(schemes);
  if (known.length === 0 && name === undeclared) return { type: 'http', scheme: 'bearer' };
  throw new OpenApiError(
    `The document has no security scheme ${JSON.stringify(name)}; it has ${known.join(', ') || 'none'}`,
  );
}

function placed(scheme: JsonObject, value: string): Credential | undefined {
  const name = String(scheme['name']);
  switch (scheme['type'] === 'http' ? String(scheme['scheme']).toLowerCase() : scheme['type']) {
    case 'apiKey':
      if (scheme['in'] === 'query') return { place: 'query', name, value };
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return undefined;
      if (scheme['in'] === 'cookie') return { place: 'cookies', name, value };
      return { place: 'headers', name: name.toLowerCase(), value };
    case 'basic': {
      // As a pair, or encoded already.
      const encoded = value.includes(':') ? Buffer.from(value).toString('base64') : value;
      return { place: 'headers', name: 'authorization', value: `Basic ${encoded}` };
    }
    case 'bearer':
    case 'oauth2':
    case 'openIdConnect':
      return { place: 'headers', name: 'authorization', value: `Bearer ${value}` };
  }
  return undefined;
}
