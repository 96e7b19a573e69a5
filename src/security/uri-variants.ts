// The variants in which a URI may be interpreted: unchanged, decoded, and normalized. A rule about URIs must hold for
// all of them; otherwise `file:///etc/../srv/%65tc` would be one resource for the rule and another for the code that
// opens it.

/** How many layers of percent-encoding are decoded; no reader decodes more often. */
const maxDecodings = 3;

/** A URI with only one interpretation. */
const plain = /^[a-z][a-z0-9+.-]*:(?!.*(?:[%\\?#]|\/\.{0,2}(?:\/|$)|[^\x20-\x7e]))/;

/** All variants, the given one first. Most URIs have only one. */
export function variantsOf(uri: string): readonly string[] {
  if (plain.test(uri.replace('://', ':'))) return [uri];
  const variants = new Set<string>();
  let text = uri;
  for (let decodings = 0; decodings <= maxDecodings; decodings++) {
    variants.add(text);
    variants.add(normalizeDots(text));
    const decoded = decode(text);
    if (decoded === text) break;
    text = decoded;
  }
  return [...variants];
}

/** Decodes every valid `%xx`; the others stay, as in some readers. */
function decode(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded; // Not UTF-8: no reader decodes it as text.
    }
  });
}

/** Lower-case scheme and host, no query and fragment, no `.`, `..` and empty names. */
function normalizeDots(text: string): string {
  const parts = /^([A-Za-z][A-Za-z0-9+.-]*):(\/\/[^/\\?#]*)?([^?#]*)/.exec(text.normalize('NFC'));
  if (parts === null) return text;
  const [, scheme = '', authority = '', path = ''] = parts;
  const names: string[] = [];
  const segments = path.replaceAll('\\', '/').split('/');
  for (const [index, name] of segments.entries()) {
    if (name === '..') names.pop();
    else if (name !== '.' && (name !== '' || index === segments.length - 1)) names.push(name);
  }
  const rooted = /^[/\\]/.test(path) ? '/' : '';
  return `${scheme.toLowerCase()}:${authority.toLowerCase()}${rooted}${names.join('/')}`;
}
