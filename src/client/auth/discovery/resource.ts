// The resource identifier of an MCP server: its canonical form, and whether an identifier that protected-resource
// metadata publishes really means this server. No requests are made here.

/** The canonical URI of a server (RFC 8707 §2): no fragment, no slash behind a bare host. */
export function canonicalResource(server: URL): string {
  const url = new URL(server);
  url.hash = '';
  return url.pathname === '/' && url.search === '' ? url.origin : url.href;
}

/**
 * Whether a published resource identifier covers this server. RFC 9728 §3.3 wants the very URL; MCP also lets metadata
 * at the root apply to the whole host, so the identifier may name a parent path, never a sibling or another origin.
 */
export function coversServer(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const named = new URL(resource);
  if (named.hash !== '' || named.username !== '' || named.password !== '') return false;
  if (named.origin !== server.origin) return false;
  if (named.search !== '' && named.search !== server.search) return false;
  const parent = withSlash(named.pathname);
  return withSlash(server.pathname).startsWith(parent);
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
