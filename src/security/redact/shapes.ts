// The shapes of secrets in plain text. Each pattern is linear: after its fixed prefix it only matches characters of one
// class and requires nothing after them, so hostile text cannot cause backtracking.

/** One shape. */
export interface SecretShape {
  readonly name: string;
  /** A cheap test that must match before the pattern is run. */
  readonly hint: RegExp;
  readonly pattern: RegExp;
  /** The first group is kept (`Bearer `, `password=`), the rest is replaced. */
  readonly keep?: boolean;
}

// The start of a word: the character before it must not belong to the same word.
const start = '(?<![A-Za-z0-9])';

/** Keys that issuers mark with a prefix to make them recognizable: the prefix, and what follows it. */
const issued: readonly (readonly [string, string])[] = [
  ['sk-', '[A-Za-z0-9_-]{16,}'], // OpenAI, Anthropic and many others
  ['(?:[sr]k_(?:live|test)|whsec)_', '[A-Za-z0-9]{16,}'], // Stripe
  ['gh[pousr]_', '[A-Za-z0-9]{20,}'],
  ['github_pat_', '[A-Za-z0-9_]{20,}'],
  ['gl(?:pat|dt|rt|ptt|soat)-', '[A-Za-z0-9_-]{16,}'], // GitLab
  ['xox[abeoprs]-', '[A-Za-z0-9-]{10,}'],
  ['xapp-', '[A-Za-z0-9-]{10,}'], // Slack
  ['ya29\\.', '[A-Za-z0-9_-]{16,}'],
  ['AIza', '[A-Za-z0-9_-]{30,}'], // Google
  ['(?:AKIA|ASIA|ABIA|ACCA)', '[A-Z0-9]{16,}'], // AWS key ids
  ['npm_', '[A-Za-z0-9]{30,}'],
  ['pypi-', '[A-Za-z0-9_-]{30,}'],
  ['hf_', '[A-Za-z0-9]{30,}'],
  ['do[opr]_v1_', '[a-f0-9]{30,}'],
  ['shp(?:at|ca|pa|ss)_', '[A-Fa-f0-9]{20,}'],
  ['SG\\.', '[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]{1,}){0,1}'], // SendGrid
  ['key-', '[0-9a-f]{32,}'], // Mailgun
  ['tskey-', '[A-Za-z0-9-]{16,}'],
  ['dckr_pat_', '[A-Za-z0-9_-]{16,}'],
  ['lin_api_', '[A-Za-z0-9]{16,}'],
  ['AGE-SECRET-KEY-1', '[A-Z0-9]{20,}'],
];

const names =
  'passw(?:or)?d|passphrase|pwd|secret|(?<!progress)token|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|client[-_ ]?key|credentials?|session[-_ ]?id|jwt';

/** Every shape, in the order they are applied: whole blocks first, single words last. */
export const secretShapes: readonly SecretShape[] = [
  {
    name: 'private key',
    hint: /PRIVATE KEY/,
    // Without its end (a cut log) a key extends to the end of the text.
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g,
  },
  {
    name: 'password in a URL',
    hint: /:\/\//,
    pattern: /(:\/\/[^\s/?#@:"'<>]{0,256}:)[^\s/?#"'<>]{1,512}(?=@)/g,
    keep: true,
  },
  {
    name: 'header line',
    hint: /authorization|cookie/i,
    // Schemes and cookies have many parts; all are replaced, to the end of the line or of the quoted text.
    pattern: /((?:authorization|cookie)["'\\]{0,3}[ \t]{0,4}:[ \t]{0,4}["'\\]{0,3})[^\r\n"'\\]{1,}/gi,
    keep: true,
  },
  {
    name: 'bearer token',
    hint: /bearer|dpop/i,
    pattern: new RegExp(`(${start}(?:Bearer|DPoP)[ \\t]{1,8})[A-Za-z0-9._~+/=:-]{8,}`, 'gi'),
    keep: true,
  },
  {
    name: 'basic credentials',
    hint: /basic/i,
    // Base64 has digits, signs or capitals inside a word; "basic information" does not.
    pattern: new RegExp(
      `(${start}(?:[Bb]asic|BASIC)[ \\t]{1,8})(?=[A-Za-z0-9]{0,64}(?:[0-9+/=]|[a-z][A-Z]))[A-Za-z0-9+/=]{8,}`,
      'g',
    ),
    keep: true,
  },
  {
    name: 'named value',
    hint: new RegExp(names, 'i'),
    pattern: new RegExp(
      `((?:${names})["'\\\\]{0,3}[ \\t]{0,4}[=:][ \\t]{0,4}["'\\\\]{0,3})[^\\s"'\\\\&,;<>]{3,}`,
      'gi',
    ),
    keep: true,
  },
  {
    name: 'one-time value in a query',
    hint: /[?&]/,
    pattern:
      /([?&](?:code|state|sig|signature|key|auth|x-amz-(?:signature|credential|security-token)|code_verifier|assertion|client_assertion|id_token_hint)=)[^\s&#"'<>]{1,}/gi,
    keep: true,
  },
  {
    name: 'JSON Web Token',
    hint: /eyJ/,
    pattern: new RegExp(`${start}eyJ[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]{1,}){0,4}`, 'g'),
  },
  {
    name: 'issued key',
    hint: new RegExp(issued.map(([prefix]) => prefix).join('|')),
    pattern: new RegExp(`${start}(?:${issued.map((each) => each.join('')).join('|')})`, 'g'),
  },
];

/** The role of a character in a secret: part of the secret, or separator from its name. */
const partOfWord = 1;
const separator = 2;
const roles = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[=:]/.test(character) ? separator : /[\w.~+/-]/.test(character) ? partOfWord : 0;
});
/** Every shape above needs a separator, a word of this length … */
const longWord = 11;
/** … or a shorter one that follows one of these. */
const schemeWord = 8;
const schemes = /bearer|basic|dpop|PRIVATE KEY/i;

/** Whether a text has what every shape needs. Most texts do not, and one pass over their characters shows it. */
function hasWhatSecretsNeed(text: string, end: number): boolean {
  let run = 0;
  let longest = 0;
  for (let index = 0; index < end; index++) {
    const code = text.charCodeAt(index);
    const role = code < 128 ? roles[code] : 0;
    if (role === separator) return true;
    if (role !== partOfWord) run = 0;
    else if (++run > longest) {
      longest = run;
      if (longest === longWord) return true;
    }
  }
  return longest >= schemeWord && schemes.test(text);
}

/** All hints in one: most long texts match none of them, and are scanned once instead of ten times. */
const someHint = new RegExp(secretShapes.map(({ hint }) => hint.source).join('|'), 'i');

/** Whether the start of a text may contain a secret and must be checked. */
export function mayHoldSecret(text: string, end: number): boolean {
  if (!hasWhatSecretsNeed(text, end)) return false;
  return someHint.test(end < text.length ? text.slice(0, end) : text);
}
