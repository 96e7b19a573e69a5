// The server card of an endpoint (SEP-2127), and the catalog that leads to it: what clients read before they connect. Everyone
// can read both, so they contain who the server is and where, and nothing that it offers: no tools, no instructions.

import { assertKnownOptions } from '../../../common/known-options.ts';
import type { SessionHost } from '../../../protocol/exchange.ts';
import type { Icon } from '../../../protocol/model.ts';
import { isLoopback, type ListeningAddress, listeningUrl } from '../access.ts';
import { endpointUrl } from '../endpoint-url.ts';
import type { EndpointOptions, ServerCardOptions } from '../options.ts';
import { type CardField, explainInvalidCard } from './card-fields.ts';

const schema = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
export const cardType = 'application/mcp-server-card+json';
export const catalogType = 'application/ai-catalog+json';
/** The version of the AI Catalog specification. */
const catalogVersion = '1.0';

const knownFields: Record<keyof ServerCardOptions, true> = {
  name: true,
  title: true,
  description: true,
  websiteUrl: true,
  icons: true,
  repository: true,
};
const knownOfRepository: Record<keyof NonNullable<ServerCardOptions['repository']>, true> = {
  url: true,
  source: true,
  id: true,
  subfolder: true,
};

/** The documents of an endpoint. */
export interface CardDocuments {
  readonly card: object;
  readonly catalog: object;
}

/** Creates both documents. Throws a `TypeError` that says what to do if an option is missing or invalid. */
export function createCardDocuments(
  host: Pick<SessionHost, 'identity' | 'revisions'>,
  options: EndpointOptions,
  listening: ListeningAddress | undefined,
): CardDocuments {
  const given = givenFields(options.serverCard);
  const url = urlForClients(options, listening);
  const { name, version, title, description, websiteUrl, icons } = { ...host.identity, ...given };
  const nameFix = given.name === undefined ? '. The name in createServer can stay: set serverCard: { name }' : '';
  assertField('name', name, nameFix);
  assertField('version', version);
  if (description === undefined) {
    throw new TypeError(
      'serverCard.description: is missing; say in at most 100 characters what the server does, here or in createServer',
    );
  }
  assertField('description', description);
  if (title !== undefined) assertField('title', title);
  if (websiteUrl !== undefined) assertField('websiteUrl', websiteUrl);
  const card = {
    $schema: schema,
    name,
    version,
    description,
    title,
    websiteUrl,
    repository: repositoryOf(given),
    icons: icons?.map(iconOf),
    remotes: [{ type: 'streamable-http', url, supportedProtocolVersions: host.revisions }],
  };
  const entry = { identifier: identifierOf(name), type: cardType, url: `${withoutSlash(url)}/server-card` };
  return { card, catalog: { specVersion: catalogVersion, entries: [entry] } };
}

function givenFields(option: EndpointOptions['serverCard']): ServerCardOptions {
  if (typeof option === 'boolean' || option === undefined) return {};
  // A misspelt field would be missing, or something that must not be public.
  assertKnownOptions('serverCard', option, knownFields);
  return Object.fromEntries(Object.entries(option).filter(([, value]) => value !== undefined));
}

function assertField(field: CardField, value: unknown, fix = ''): void {
  const problem = explainInvalidCard(field, value);
  if (problem !== undefined) throw new TypeError(`serverCard.${field}: ${problem}${fix}`);
}

function repositoryOf({ repository }: ServerCardOptions): ServerCardOptions['repository'] {
  if (repository === undefined) return undefined;
  assertKnownOptions('serverCard.repository', repository, knownOfRepository);
  assertField('repository.url', repository.url);
  assertField('repository.source', repository.source);
  return repository;
}

function iconOf({ src, mimeType, sizes, theme }: Icon): object {
  assertField('icons.src', src);
  return { src, mimeType, sizes, theme };
}

/**
 * Where clients connect: the same address for every request, because caches keep the card for all clients. Without a public
 * URL only a loopback address can be published: any other may be one that clients cannot use, or should not know.
 */
function urlForClients(options: EndpointOptions, listening: ListeningAddress | undefined): string {
  const { publicUrl, path = '/mcp', allowedHosts = [], optionNames } = options;
  const { publicUrl: option = 'the option publicUrl' } = optionNames ?? {};
  if (publicUrl === undefined) {
    if (listening !== undefined && isLoopback(listening.host) && allowedHosts.length === 0) {
      return listeningUrl(listening, path);
    }
    throw new TypeError(
      `serverCard: the address of this server is not known. Set the one that clients use with ${option}, such as "https://mcp.example.com"`,
    );
  }
  const { username, password, search, hash } = new URL(publicUrl);
  if (username !== '' || password !== '' || search !== '' || hash !== '') {
    throw new TypeError(
      `serverCard: the public URL has a user name, a password, a query or a fragment, which cannot be published. Leave them out of ${option}`,
    );
  }
  return endpointUrl(publicUrl, path);
}

/** The domain-anchored identifier of AI Catalogs: `com.example/weather` is `urn:air:example.com:mcp:weather`. */
function identifierOf(name: string): string {
  const [namespace = '', ownName] = name.split('/');
  return `urn:air:${namespace.split('.').reverse().join('.')}:mcp:${ownName}`;
}

export function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
