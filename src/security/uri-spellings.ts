// The spellings under which a URI may be understood: as it is, decoded, and without detours. A rule about URIs must hold
// for all of them, or `file:///etc/../srv/%65tc` would be another thing for the rule than for whoever opens it.

/** How often a text may have been encoded before nobody takes the trouble to decode it. */
const maxRounds = 3;

/** Nothing in it can be read in a second way. */
const plain = /^[a-z][a-z0-9+.-]*:(?!.*(?:[%\\?#]|\/\.{0,2}(?:\/|$)|[^\x20-\x7e]))/;

/** Every spelling, the one given first. Most URIs have only that. */
export function spellingsOf(uri: string): readonly string[] {
  if (plain.test(uri.replace('://', ':'))) return [uri];
  const spellings = new Set<string>();
  let text = uri;
  for (let round = 0; round <= maxRounds; round++) {
    spellings.add(text);
    spellings.add(withoutDetours(text));
    const decoded = decode(text);
    if (decoded === text) break;
    text = decoded;
  }
  return [...spellings];
}

/** Every `%xx` that stands for something; the others stay, as some readers leave them. */
function decode(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded; // Not UTF-8: nobody reads it as text.
    }
  });
}

/** Lower-case scheme and host, no query and fragment, no `.`, `..` and empty names. */
function withoutDetours(text: string): string {
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
