// What the authorization server of the gateway publishes about itself, for a while: anyone can open the pages of a sign-in, and
// would otherwise cause requests to the authorization server with each of them.

import type { AuthorizerOptions } from '../../../client/index.ts';
import { readCapped } from '../../../common/read-capped.ts';

export type SignInFetch = NonNullable<AuthorizerOptions['fetch']>;

/** How long a document is used; a change at the authorization server is noticed that much later. */
export const metadataMs = 60_000;
/** Documents at a time; stops redirects to ever other addresses from filling the memory. */
const maxDocuments = 20;
/** The same for one document, which the client would reject. */
const maxDocumentBytes = 262_144;

interface StoredDocument {
  readonly untilMs: number;
  readonly response: Promise<Response>;
}

/** The same fetch. Documents are requested once in a while, and that one does not exist is known that long, too; failures are not. */
export function rememberingDocuments(fetch: SignInFetch): SignInFetch {
  const stored = new Map<string, StoredDocument>();
  const request = (url: string, init: RequestInit): Promise<Response> => {
    const response = fetch(url, init).then(complete);
    const entry: StoredDocument = { untilMs: performance.now() + metadataMs, response };
    stored.set(url, entry);
    const [oldest] = stored.keys();
    if (stored.size > maxDocuments && oldest !== undefined) stored.delete(oldest);
    const forget = (): void => {
      if (stored.get(url) === entry) stored.delete(url);
    };
    response.then(({ status }) => {
      if (status >= 500 || status === 429) forget();
    }, forget);
    return response;
  };
  return async (url, init) => {
    if ((init.method ?? 'GET') !== 'GET') return fetch(url, init);
    const found = stored.get(url);
    if (found !== undefined && found.untilMs > performance.now()) return (await found.response).clone();
    stored.delete(url);
    return (await request(url, init)).clone();
  };
}

/** With the whole body in memory, so that it can be read again. */
async function complete(response: Response): Promise<Response> {
  const body = await readCapped(response, maxDocumentBytes);
  if (body === undefined) throw new Error(`the response exceeds ${maxDocumentBytes} bytes`);
  const { status, headers } = response;
  return new Response(body.length === 0 ? null : body, { status, headers });
}
