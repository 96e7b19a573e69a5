// The metadata of a protected resource, for clients without a token: which servers can issue one (RFC 9728).

/** The document. */
export interface ProtectedResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported?: readonly string[];
  readonly bearer_methods_supported: readonly ['header'];
  readonly resource_name?: string;
  readonly resource_documentation?: string;
}

/** A route for this document, in the form that `serveHttp` takes as one of its `routes`. */
export interface MetadataRoute {
  readonly path: string;
  readonly method: 'GET';
  readonly public: true;
  answer(): { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };
}

const wellKnown = '/.well-known/oauth-protected-resource';

/** The address of a resource in canonical form: no fragment, lower-case host, no meaningless slash. */
export function canonicalResource(resource: string): string {
  if (!URL.canParse(resource)) {
    const given = typeof resource === 'string' ? JSON.stringify(resource) : `of type ${typeof resource}`;
    throw new TypeError(
      `resource: must be the URL that clients use for this server, such as "https://mcp.example.com/mcp"; it is ${given}`,
    );
  }
  const url = new URL(resource);
  if (url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new TypeError(`The address of a resource must not have a fragment or credentials: ${resource}`);
  }
  return url.pathname === '/' && url.search === '' ? url.origin : url.href;
}

/** The address of the document: the path of the resource follows the well-known path. */
export function metadataUrl(resource: string): string {
  const url = new URL(resource);
  return `${url.origin}${wellKnown}${url.pathname === '/' ? '' : url.pathname}${url.search}`;
}

/** Serves the document at its own path and at the root, where older clients look. */
export function metadataRoutes(metadata: ProtectedResourceMetadata): MetadataRoute[] {
  const body = JSON.stringify(metadata);
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' };
  const paths = new Set([new URL(metadataUrl(metadata.resource)).pathname, wellKnown]);
  return [...paths].map((path) => ({
    path,
    method: 'GET',
    public: true,
    answer: () => ({ status: 200, headers, body }),
  }));
}
