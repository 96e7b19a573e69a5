// The URL of an endpoint as clients see it. It comes from options only: the header `Host` of a request can be forged.

/** The URL of the endpoint at `path` of a server with this public URL, which may be that of the endpoint already. */
export function endpointUrl(publicUrl: string, path: string): string {
  const url = new URL(publicUrl);
  return url.pathname === '/' ? new URL(path, url).href : url.href;
}

/** What a proxy removes from the start of a path: `/tools` for `https://example.com/tools/mcp` and the path `/mcp`. */
export function publicPrefix(publicUrl: string | undefined, path: string): string {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return '';
  const { pathname } = new URL(publicUrl);
  return pathname.endsWith(path) ? pathname.slice(0, -path.length) : '';
}
