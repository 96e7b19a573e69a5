// Where the API is: what the operator says, or else the document.

import { classifyAddress } from '../../security/network/ranges.ts';
import { type OpenApiDocument, OpenApiError } from './document.ts';
import { serverUrl } from './operations.ts';

export interface ApiAddress {
  readonly url: URL;
  /** The operator has named its origin: then it may be a private address. */
  readonly given: boolean;
}

interface GivenAddresses {
  readonly url: string | URL | undefined;
  /** Where the operator found the document, if that is an address. */
  readonly document: URL | undefined;
  /** A policy decides about private addresses. */
  readonly hasPolicy: boolean;
}

export function apiAddress(document: OpenApiDocument, given: GivenAddresses): ApiAddress {
  if (given.url !== undefined) return { url: checked(parsed(given.url)), given: true };
  const url = checked(serverUrl(document.root['servers'], document.url));
  if (url.origin === given.document?.origin) return { url, given: true };
  if (!given.hasPolicy && isPrivate(url.hostname)) {
    throw new OpenApiError(
      `The document says that the API is at ${url.origin}, which is not a public address. ` +
        `If that is right, name it: openApi(document, { url: '${url.origin}' }), --openapi-url ${url.origin}, or openapi.url in mooring.json`,
    );
  }
  return { url, given: false };
}

function parsed(url: string | URL): URL {
  if (URL.canParse(String(url))) return new URL(String(url));
  throw new OpenApiError(`The URL of the API is not complete: ${JSON.stringify(url)}`);
}

function checked(url: URL): URL {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new OpenApiError(`The URL of the API must begin with https: or http:, not ${url.protocol}`);
  }
  if (url.username === '' && url.password === '') return url;
  throw new OpenApiError('The URL of the API has a name or a password in it. Set them as a credential');
}

/** Names are checked again when they have been resolved. */
function isPrivate(hostname: string): boolean {
  const kind = classifyAddress(hostname)?.kind;
  return kind === undefined ? /(?:^|\.)localhost\.?$/.test(hostname) : kind !== 'public';
}
