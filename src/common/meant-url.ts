// A URL that was written without its scheme: "localhost:3000/mcp".

const host = /^(localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]|[a-z\d_-]+(?:\.[a-z\d_-]+)*)(:\d{1,5})?([/?].*)?$/i;

/**
 * The URL that was probably meant; undefined if the text does not look like one. A name by itself could be a program, or
 * a file such as `server.js`: it needs a port, or a dot and a path.
 */
export function meantUrl(text: string): string | undefined {
  const [, name = '', port, path] = host.exec(text.replace(/^\/\//, '')) ?? [];
  if (name === '') return undefined;
  const isAddress = /^(localhost|[\d.]+|\[.*\])$/i.test(name);
  const isDomain = !isAddress && name.includes('.');
  if (!isAddress && port === undefined && !(isDomain && path !== undefined)) return undefined;
  // Servers on ports of their own are mostly local ones, without TLS.
  const scheme = isDomain && (port === undefined || port === ':443') ? 'https' : 'http';
  const url = `${scheme}://${name}${port ?? ''}${path ?? ''}`;
  return URL.canParse(url) ? url : undefined;
}
