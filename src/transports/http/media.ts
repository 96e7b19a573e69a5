// Media types of a request: whether the body is JSON, and which kinds of response the client accepts.

/**
 * The responses that a client accepts. `any`: not specified (no Accept, or only `*\/*`), so it gets JSON unless the
 * response can only be a stream. `none`: nothing that the server can send.
 */
export type Accepts = 'json' | 'stream' | 'both' | 'any' | 'none';

export function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined) return false;
  const [type, ...parameters] = contentType.toLowerCase().split(';');
  if (type?.trim() !== 'application/json') return false;
  return parameters.every((each) => {
    const [name, value] = each.split('=');
    return name?.trim() !== 'charset' || /^"?utf-?8"?$/.test(value?.trim() ?? '');
  });
}

/** Cached, since clients send the same few headers. Bounded, since they may also send new ones each time. */
const parsed = new Map<string, Accepts>();
const maxParsed = 256;

export function acceptsOf(header: string | undefined): Accepts {
  if (header === undefined) return 'any';
  let accepts = parsed.get(header);
  if (accepts === undefined) {
    accepts = parseAccept(header);
    if (parsed.size < maxParsed) parsed.set(header, accepts);
  }
  return accepts;
}

function parseAccept(header: string): Accepts {
  let json = false;
  let stream = false;
  let wildcard = header.trim() === '';
  for (const part of header.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((each) => each.trim());
    if (parameters.some((each) => /^q=0(\.0*)?$/.test(each))) continue;
    if (type === '*/*') wildcard = true;
    else if (type === 'application/json' || type === 'application/*') json = true;
    else if (type === 'text/event-stream' || type === 'text/*') stream = true;
  }
  if (json && stream) return 'both';
  if (wildcard) return json || stream ? 'both' : 'any';
  if (json) return 'json';
  return stream ? 'stream' : 'none';
}

/** Whether the client accepts an event stream. */
export function acceptsStream(accepts: Accepts): boolean {
  return accepts === 'stream' || accepts === 'both' || accepts === 'any';
}
