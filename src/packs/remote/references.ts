// Character references of HTML and XML: the numeric ones all, of the named ones those that prose uses. An unknown name
// stays as it was written.

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  plusmn: '±',
  micro: 'µ',
  middot: '·',
  para: '¶',
  sect: '§',
  laquo: '«',
  raquo: '»',
  iexcl: '¡',
  iquest: '¿',
  frac12: '½',
  frac14: '¼',
  frac34: '¾',
  sup2: '²',
  sup3: '³',
  times: '×',
  divide: '÷',
  cent: '¢',
  pound: '£',
  yen: '¥',
  euro: '€',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  bull: '•',
  hellip: '…',
  prime: '′',
  rarr: '→',
  larr: '←',
  harr: '↔',
  asymp: '≈',
  ne: '≠',
  le: '≤',
  ge: '≥',
  minus: '−',
  infin: '∞',
  alpha: 'α',
  beta: 'β',
  gamma: 'γ',
  delta: 'δ',
  lambda: 'λ',
  mu: 'μ',
  pi: 'π',
  sigma: 'σ',
  omega: 'ω',
  szlig: 'ß',
  AElig: 'Æ',
  aelig: 'æ',
  OElig: 'Œ',
  oelig: 'œ',
  Oslash: 'Ø',
  oslash: 'ø',
  shy: '\u00ad',
  ensp: '\u2002',
  emsp: '\u2003',
  thinsp: '\u2009',
  zwnj: '\u200c',
  zwj: '\u200d',
};

/** Letters with an accent are a letter and a mark: `eacute` is `e` and U+0301, composed. */
const marks: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  ring: '\u030a',
  cedil: '\u0327',
  caron: '\u030c',
};

// The C1 numbers mean windows-1252 on the web, since that is what authors meant.
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** The text with its references resolved. Linear: names are short, so a stray `&` costs nothing. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,7}));?/g, resolve);
}

function resolve(all: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return all.endsWith(';') ? (byName(name) ?? all) : all;
  return byNumber(decimal === undefined ? Number.parseInt(hexadecimal as string, 16) : Number(decimal));
}

function byName(name: string): string | undefined {
  if (Object.hasOwn(named, name)) return named[name];
  const mark = name.slice(1);
  return Object.hasOwn(marks, mark) ? ((name[0] as string) + marks[mark]).normalize('NFC') : undefined;
}

function byNumber(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return windows1252[code - 0x80] as string;
  const impossible = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return impossible ? '\ufffd' : String.fromCodePoint(code);
}
