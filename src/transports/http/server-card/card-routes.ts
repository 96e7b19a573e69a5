// How the server card and the catalog are served: for every web page, with a tag by which caches check that their copy is current.

import { toBase64Url } from '../../../common/base64url.ts';
import type { SessionHost } from '../../../protocol/exchange.ts';
import type { ListeningAddress } from '../access.ts';
import type { HeaderList, HttpExchange } from '../exchange.ts';
import type { DocumentRoutes } from '../extra-routes.ts';
import type { EndpointOptions } from '../options.ts';
import { cardType, catalogType, createCardDocuments, withoutSlash } from './server-card.ts';

const catalogPath = '/.well-known/ai-catalog.json';

const corsHeaders: HeaderList = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', 'ETag'];

const preflightHeaders: HeaderList = [
  ...['Access-Control-Allow-Origin', '*', 'Access-Control-Allow-Methods', 'GET'],
  ...['Access-Control-Allow-Headers', 'Content-Type, If-None-Match', 'Access-Control-Max-Age', '3600'],
];

/** What serves the card and the catalog, by path. Throws if the options do not suffice for a card. */
export function createCardRoutes(
  host: SessionHost,
  options: EndpointOptions,
  listening?: ListeningAddress,
): DocumentRoutes {
  const { card, catalog } = createCardDocuments(host, options, listening);
  return new Map([
    [`${withoutSlash(options.path ?? '/mcp')}/server-card`, documentServer(cardType, card)],
    [catalogPath, documentServer(catalogType, catalog)],
  ]);
}

function documentServer(type: string, content: object): (exchange: HttpExchange) => Promise<void> {
  const body = JSON.stringify(content);
  let tagging: Promise<string> | undefined;
  return async (exchange) => {
    if (exchange.method === 'OPTIONS') return exchange.respond(204, preflightHeaders);
    tagging ??= tagOf(body);
    const tag = await tagging;
    const headers = ['ETag', tag, 'Cache-Control', 'public, max-age=3600', ...corsHeaders];
    if (isCurrent(exchange.get('if-none-match'), tag)) exchange.respond(304, headers);
    else exchange.respond(200, ['Content-Type', type, ...headers], body);
  };
}

/** The same in all processes that serve the same document. */
async function tagOf(body: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body));
  return `"${toBase64Url(new Uint8Array(digest, 0, 16))}"`;
}

/** Weak comparison (RFC 9110 §13.1.2). Our tags contain no comma, so parts of others cannot equal them. */
function isCurrent(header: string | undefined, tag: string): boolean {
  return (header ?? '').split(',').some((each) => {
    const given = each.trim();
    return given === '*' || given.replace(/^W\//, '') === tag;
  });
}
