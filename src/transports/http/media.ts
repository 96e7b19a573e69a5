// What a request says about media types: is the body JSON, and which kinds of answer may come back.

/**
 * The answers a client takes. `any`: it does not say (no Accept, or only `*\/*`), so it gets JSON unless the answer can
 * only be a stream. `none`: nothing we have.
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

/** Clients send the same few headers over and over. Bounded, since they may also invent new ones. */
const known = new Map<string, Accepts>();
const maxKnown = 256;

export function acceptsOf(header: string | undefined): Accepts {
  if (header === undefined) return 'any';
  let accepts = known.get(header);
  if (accepts === undefined) {
    accepts = readAccept(header);
    if (known.size < maxKnown) known.set(header, accepts);
  }
  return accepts;
}

function readAccept(header: string): Accepts {
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

/** Whether a request for a stream takes one. */
export function acceptsStream(accepts: Accepts): boolean {
  return accepts === 'stream' || accepts === 'both' || accepts === 'any';
}
